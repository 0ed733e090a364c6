// The wire between a proxy and the store. An answer that comes after the deadline is dropped, as
// stores/group_queue does; what was asked may have been carried out all the same.
#include "tests/sim/wire_store.h"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "stores/record.h"

namespace semel::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// A call that takes longer than this may cost its caller a deadline.
constexpr milliseconds kNoticed{20};
/// The watch looks at the deadlines only so often.
constexpr milliseconds kWatchPause = WireStore::kDeadline / 8;

}  // namespace

/// One call that waits for its answer. It outlives the coroutine that asked, where the answer does.
template <class T>
struct WireStore::Call {
  explicit Call(Executor asking) : executor(std::move(asking)) {}
  Executor executor;
  Result<T> reply = Fault::StoreTimeout;
  std::function<void()> resume;  ///< Empty: settled.

  void settle(Result<T> with) {
    if (!resume) return;
    reply = std::move(with);
    asio::post(executor, std::exchange(resume, nullptr));
  }
};

void WireStore::stopping_point() {
  owner_.stopping_point();
  if (exchange_.on_call) owner_.suffer(exchange_.on_call(owner_));
}

void WireStore::note_fault() {
  Happening noted;
  noted.at = exchange_.timeline.now().count();
  noted.kind = Kind::StoreFault;
  noted.proxy = owner_.id();
  exchange_.history.add(noted);
}

template <class T, class Step>
void WireStore::send(const std::shared_ptr<Call<T>>& call, Step step) {
  Dice& dice = exchange_.dice;
  const StoreWeather& weather = exchange_.weather;
  const auto hop = [&] {
    return dice.chance(weather.slow) ? dice.between(milliseconds(20), milliseconds(1'300))
                                     : dice.between(microseconds(40), microseconds(600));
  };
  const bool request_lost = dice.chance(weather.request_lost);
  const bool reply_lost = dice.chance(weather.reply_lost);
  const Time there = hop();
  const Time back = hop();
  if (request_lost || reply_lost || there + back > kNoticed) note_fault();
  if (request_lost) return;
  Exchange& wires = exchange_;
  const Process& owner = owner_;
  wires.timeline.after(there, [&wires, &owner, call, step, reply_lost, back] {
    // A store that is down refuses the connection: nothing is carried out, and that is known.
    Result<T> reply = Fault::StoreUnreachable;
    if (wires.server.is_up()) reply = step(wires.server);
    if (reply_lost || !owner.is_alive()) return;
    wires.timeline.after(back, [&owner, call, reply = std::move(reply)] {
      if (owner.is_alive()) call->settle(reply);
    });
  });
}

template <class T, class Step>
Task<Result<T>> WireStore::ask(Step step) {
  stopping_point();
  auto call = std::make_shared<Call<T>>(co_await asio::this_coro::executor);
  auto begin = [this, &call, &step](auto handler) {
    auto held = std::make_shared<decltype(handler)>(std::move(handler));
    call->resume = [held] { std::move (*held)(); };
    const bool repeated = exchange_.dice.chance(exchange_.weather.repeated);
    send(call, step);
    if (repeated) send(call, step);
    const Time patience = kDeadline + exchange_.dice.between(milliseconds(0), kWatchPause);
    exchange_.timeline.after(patience, [&owner = owner_, call] {
      if (owner.is_alive()) call->settle(Fault::StoreTimeout);
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(begin, kAwait);
  stopping_point();
  if (call->reply.has_error()) note_fault();
  co_return std::move(call->reply);
}

Task<Result<ClaimReply>> WireStore::asked(ClaimRequest request, std::optional<Attempt> abandoned) {
  const std::uint32_t attempt = exchange_.history.attempt_of(bytes_of(request.token));
  exchange_.history.bind_reference(bytes_of(request.reference), attempt);
  Happening noted;
  noted.at = exchange_.timeline.now().count();
  noted.kind = Kind::ClaimAsked;
  noted.proxy = owner_.id();
  noted.record = exchange_.history.record_of(bytes_of(request.key));
  noted.attempt = attempt;
  noted.route = exchange_.server.route_of(request.route);
  exchange_.history.add(noted);

  const auto latest = later(exchange_.server.boot(), request.not_after);
  const StoreServer::Asker asker{owner_.id()};
  auto step = [request, abandoned, latest, asker](StoreServer& server) -> Result<ClaimReply> {
    if (server.boot() > latest) return Fault::StoreUnreachable;
    if (server.refuses_writes()) return Fault::StoreFull;
    return server.claim(asker, request, abandoned);
  };
  auto reply = co_await ask<ClaimReply>(std::move(step));
  if (reply.has_value()) {
    if (const auto* granted = std::get_if<Granted>(&*reply)) {
      noted.at = exchange_.timeline.now().count();
      noted.kind = Kind::GrantTold;
      noted.fence = granted->fence.value;
      exchange_.history.add(noted);
    }
  }
  co_return reply;
}

Task<Result<ClaimReply>> WireStore::claim(ClaimRequest request) {
  return asked(std::move(request), std::nullopt);
}

Task<Result<ClaimReply>> WireStore::supersede(ClaimRequest request, Attempt abandoned) {
  return asked(std::move(request), abandoned);
}

template <class Step>
Task<Result<WriteReply>> WireStore::write(Step step) {
  return ask<WriteReply>([step = std::move(step), asker = StoreServer::Asker{owner_.id()}](
                             StoreServer& server) -> Result<WriteReply> {
    if (server.refuses_writes()) return Fault::StoreFull;
    return step(server, asker);
  });
}

Task<Result<WriteReply>> WireStore::record(Attempt attempt, StoredResponsePtr response) {
  return write([attempt, response](StoreServer& server, StoreServer::Asker asker) {
    return server.record(asker, attempt, response);
  });
}

Task<Result<WriteReply>> WireStore::release(Attempt attempt) {
  return write([attempt](StoreServer& server, StoreServer::Asker asker) {
    return server.release(asker, attempt);
  });
}

Task<Result<WriteReply>> WireStore::mark_indeterminate(
    Attempt attempt, IndeterminateReason reason, std::optional<std::uint16_t> upstream_status) {
  return write([attempt, reason, upstream_status](StoreServer& server, StoreServer::Asker asker) {
    return server.mark(asker, attempt, reason, upstream_status);
  });
}

Task<Result<std::optional<RecordView>>> WireStore::find(IdempotencyKey key) {
  return ask<std::optional<RecordView>>([key](StoreServer& server) { return server.find(key); });
}

Task<Result<std::optional<RecordView>>> WireStore::find(Reference reference) {
  return ask<std::optional<RecordView>>(
      [reference](StoreServer& server) { return server.run(server.store().find(reference)); });
}

Task<Result<RecordPage>> WireStore::list(ListFilter filter) {
  return ask<RecordPage>([filter](StoreServer& server) { return server.list(filter); });
}

Task<Result<ResolveReply>> WireStore::resolve(Reference reference, Resolution resolution) {
  return ask<ResolveReply>([reference, resolution](StoreServer& server) {
    return server.resolve(reference, resolution);
  });
}

Task<Result<std::size_t>> WireStore::forget(std::string tenant) {
  return ask<std::size_t>([tenant](StoreServer& server) { return server.forget(tenant); });
}

Task<Result<std::vector<semel::RouteTerms>>> WireStore::routes() {
  return ask<std::vector<semel::RouteTerms>>(
      [](StoreServer& server) { return server.run(server.store().routes()); });
}

Task<Result<void>> WireStore::adopt_routes(std::vector<semel::RouteTerms> routes) {
  return exchange_.server.store().adopt_routes(std::move(routes));
}

Task<Result<SweepReport>> WireStore::sweep(std::size_t limit) {
  return ask<SweepReport>([limit](StoreServer& server) { return server.sweep(limit); });
}

Task<StoreHealth> WireStore::health() { return exchange_.server.store().health(); }

Task<Result<bool>> WireStore::acknowledge() { return exchange_.server.store().acknowledge(); }

}  // namespace semel::sim
