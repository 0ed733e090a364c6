#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "stores/open.h"

namespace semel::testing {

/// A memory store whose word on the routes, on its log and on what is given back is the test's.
class ScriptedStore final : public Store {
 public:
  explicit ScriptedStore(const MemoryOptions& options = {})
      : truth_(open_store(options, StoreClock::real())) {}

  using Routes = Result<std::vector<RouteTerms>>;
  /// The next answers of routes(), one each; then the truth. They may throw.
  std::deque<std::function<Routes()>> routes_say;
  /// What adopt_routes() says of what it did; absent: the truth.
  std::optional<Fault> adopting_says;
  bool adopts = true;
  int asked_for_routes = 0;
  /// What events() says instead of the truth; absent: the truth.
  std::function<std::optional<Fault>(const EventFilter&)> events_say;
  int asked_for_events = 0;

  Task<Result<std::variant<EventPage, EventGap>>> events(EventFilter filter) override {
    ++asked_for_events;
    const auto fault = events_say ? events_say(filter) : std::nullopt;
    if (fault) co_return *fault;
    co_return co_await truth_->events(std::move(filter));
  }

  /// What release() does; absent: what is true.
  std::function<Task<Result<WriteReply>>(Attempt)> releases;

  [[nodiscard]] Store& truth() { return *truth_; }

  Task<Routes> routes() override {
    ++asked_for_routes;
    if (routes_say.empty()) co_return co_await truth_->routes();
    const auto say = routes_say.front();
    routes_say.pop_front();
    co_return say();
  }
  Task<Result<void>> adopt_routes(std::vector<RouteTerms> routes) override {
    if (adopts) {
      const auto adopted = co_await truth_->adopt_routes(std::move(routes));
      if (adopted.has_error()) co_return adopted.error();
    }
    if (adopting_says) co_return *adopting_says;
    co_return Result<void>();
  }

  Task<Result<ClaimReply>> claim(ClaimRequest request) override {
    return truth_->claim(std::move(request));
  }
  Task<Result<WriteReply>> record(Attempt attempt, StoredResponsePtr response) override {
    return truth_->record(attempt, std::move(response));
  }
  Task<Result<WriteReply>> release(Attempt attempt) override {
    return releases ? releases(attempt) : truth_->release(attempt);
  }
  Task<Result<WriteReply>> mark_indeterminate(
      Attempt attempt, IndeterminateReason reason,
      std::optional<std::uint16_t> upstream_status) override {
    return truth_->mark_indeterminate(attempt, reason, upstream_status);
  }
  Task<Result<ClaimReply>> supersede(ClaimRequest request, Attempt abandoned) override {
    return truth_->supersede(std::move(request), abandoned);
  }
  Task<Result<std::optional<RecordView>>> find(IdempotencyKey key) override {
    return truth_->find(key);
  }
  Task<Result<std::optional<RecordView>>> find(Reference reference) override {
    return truth_->find(reference);
  }
  Task<Result<RecordPage>> list(ListFilter filter) override {
    return truth_->list(std::move(filter));
  }
  Task<Result<ResolveReply>> resolve(Reference reference, Resolution resolution) override {
    return truth_->resolve(reference, std::move(resolution));
  }
  Task<Result<std::size_t>> forget(std::string tenant) override {
    return truth_->forget(std::move(tenant));
  }
  Task<Result<SweepReport>> sweep(std::size_t limit) override { return truth_->sweep(limit); }
  Task<StoreHealth> health() override { return truth_->health(); }
  Task<Result<bool>> acknowledge() override { return truth_->acknowledge(); }
  void close() override { truth_->close(); }

 private:
  std::unique_ptr<Store> truth_;
};

}  // namespace semel::testing
