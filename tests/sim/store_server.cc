// Carries the steps of the store out and writes into the history what each of them changed, which
// is found out by looking at the record before. Called by wire_store and operator.
#include "tests/sim/store_server.h"

#include <algorithm>
#include <utility>

#include "stores/memory_store.h"
#include "stores/record.h"

namespace semel::sim {
namespace {

Because because(IndeterminateReason reason) {
  switch (reason) {
    case IndeterminateReason::OwnerLost:
      return Because::OwnerLost;
    case IndeterminateReason::Cut:
    case IndeterminateReason::UpstreamStatus:
    case IndeterminateReason::Unrecorded:
      return Because::Ended;
    case IndeterminateReason::Timeout:
    case IndeterminateReason::Malformed:
    case IndeterminateReason::Internal:
      break;
  }
  return Because::Open;
}

}  // namespace

StoreServer::StoreServer(const MemoryOptions& options, StoreClock clock, const Hooks& hooks,
                         Timeline& timeline, History& history, Dice dice)
    : is_bounded_(options.records_max < MemoryOptions().records_max ||
                  options.bytes_max < MemoryOptions().bytes_max),
      clock_(std::move(clock)),
      store_(std::make_unique<MemoryStore>(options, clock_)),
      timeline_(timeline),
      history_(history),
      dice_(dice) {
  if (hooks.store) store_ = hooks.store(std::move(store_));
}

bool StoreServer::refuses_writes() { return full_permille_ > 0 && dice_.chance(full_permille_); }

void StoreServer::set_up(bool up) {
  if (std::exchange(up_, up) == up) return;
  Happening noted;
  noted.at = timeline_.now().count();
  noted.kind = up ? Kind::StoreUp : Kind::StoreDown;
  history_.add(noted);
}

Happening StoreServer::note(Kind kind, Asker asker, const IdempotencyKey& key) const {
  Happening noted;
  noted.at = timeline_.now().count();
  noted.kind = kind;
  noted.proxy = asker.proxy;
  noted.record = history_.record_of(bytes_of(key));
  return noted;
}

std::uint16_t StoreServer::route_of(std::string_view name) const {
  const auto found = std::ranges::find(history_.routes, name, &RouteTerms::name);
  SEMEL_CHECK(found != history_.routes.end());
  return static_cast<std::uint16_t>(found - history_.routes.begin());
}

std::optional<RecordView> StoreServer::before(const IdempotencyKey& key) {
  auto found = run(store_->find(key));
  return found ? *std::move(found) : std::nullopt;
}

void StoreServer::note_grant(Happening noted, const ClaimRequest& request, const Granted& granted,
                             const std::optional<RecordView>& was, bool superseding) {
  noted.fence = granted.fence.value;
  const auto holder =
      was ? history_.attempt_by_reference(bytes_of(was->reference)) : Happening::kNone;
  if (was && was->fence == granted.fence) {
    noted.kind = Kind::GrantedAgain;
  } else if (superseding && was && was->state == RecordView::State::InFlight) {
    noted.kind = Kind::Superseded;
  } else if (granted.expired_before) {
    Happening expired = noted;
    expired.kind = Kind::Expired;
    expired.attempt = holder;
    expired.fence = was ? was->fence.value : 0;
    history_.add(expired);
  } else if (holder != Happening::kNone) {
    // The place of a claim that its own process disowned: that one is given back by it.
    const bool is_disowned = std::any_of(
        request.disowned.begin(), request.disowned.end(),
        [&](const ClaimToken& token) { return history_.attempt_of(bytes_of(token)) == holder; });
    if (is_disowned) {
      Happening released = noted;
      released.kind = Kind::Released;
      released.attempt = holder;
      released.fence = was->fence.value;
      history_.add(released);
    }
  }
  history_.add(noted);
}

Result<ClaimReply> StoreServer::claim(Asker asker, const ClaimRequest& request,
                                      const std::optional<Attempt>& abandoned) {
  Happening noted = note(Kind::Granted, asker, request.key);
  noted.attempt = history_.attempt_of(bytes_of(request.token));
  noted.route = route_of(request.route);
  const auto was = before(request.key);
  const auto crowd = is_bounded_ ? all() : std::vector<RecordView>();
  auto reply = run(abandoned ? store_->supersede(request, *abandoned) : store_->claim(request));
  note_difference(crowd, Kind::Expired, &request.key);
  if (reply.has_error()) return reply;
  if (const auto* granted = std::get_if<Granted>(&*reply)) {
    note_grant(noted, request, *granted, was, abandoned.has_value());
  }
  return reply;
}

void StoreServer::note_stale(Happening noted, const Attempt& attempt) {
  noted.kind = Kind::WriteStale;
  noted.attempt = history_.attempt_of(bytes_of(attempt.token));
  noted.fence = attempt.fence.value;
  history_.add(noted);
}

Result<WriteReply> StoreServer::record(Asker asker, const Attempt& attempt,
                                       const StoredResponsePtr& response) {
  Happening noted = note(Kind::Recorded, asker, attempt.key);
  const auto was = before(attempt.key);
  auto reply = run(store_->record(attempt, response));
  if (reply.has_error()) return reply;
  if (!is_done(*reply)) {
    note_stale(noted, attempt);
  } else if (!was || was->state != RecordView::State::Completed) {
    noted.attempt = history_.attempt_of(bytes_of(attempt.token));
    noted.fence = attempt.fence.value;
    noted.status = response->status;
    // Of a forgotten tenant's record not even a body that there is room for.
    const auto is = before(attempt.key);
    noted.bare = response->kept == BodyKept::NotKept ||
                 (is && is->response && is->response->kept == BodyKept::NotKept);
    noted.digest = noted.bare ? 0 : digest_of(response->body);
    history_.add(noted);
  }
  return reply;
}

Result<WriteReply> StoreServer::release(Asker asker, const Attempt& attempt) {
  Happening noted = note(Kind::Released, asker, attempt.key);
  const auto was = before(attempt.key);
  auto reply = run(store_->release(attempt));
  if (reply.has_error()) return reply;
  if (!is_done(*reply)) {
    note_stale(noted, attempt);
  } else if (was) {
    noted.attempt = history_.attempt_of(bytes_of(attempt.token));
    noted.fence = was->fence.value;
    history_.add(noted);
  }
  return reply;
}

Result<WriteReply> StoreServer::mark(Asker asker, const Attempt& attempt,
                                     IndeterminateReason reason,
                                     std::optional<std::uint16_t> status) {
  Happening noted = note(Kind::Marked, asker, attempt.key);
  const auto was = before(attempt.key);
  auto reply = run(store_->mark_indeterminate(attempt, reason, status));
  if (reply.has_error()) return reply;
  noted.attempt = history_.attempt_of(bytes_of(attempt.token));
  noted.fence = attempt.fence.value;
  noted.status = status.value_or(0);
  noted.because = because(reason);
  if (!is_done(*reply)) {
    note_stale(noted, attempt);
  } else if (!was || was->state != RecordView::State::Indeterminate) {
    history_.add(noted);
  } else if (reason_ends_attempt(reason) && was->lease_left.count() > 0) {
    noted.kind = Kind::AttemptOver;
    history_.add(noted);
  }
  return reply;
}

Result<ResolveReply> StoreServer::resolve(const Reference& reference,
                                          const Resolution& resolution) {
  const auto was = run(store_->find(reference));
  auto reply = run(store_->resolve(reference, resolution));
  if (reply.has_error() || *reply != ResolveReply::Done || was.has_error() || !*was) return reply;
  const bool happened = resolution.decision == Resolution::Decision::Happened;
  Happening noted =
      note(happened ? Kind::ResolvedHappened : Kind::ResolvedNotHappened, {}, (*was)->key);
  noted.attempt = history_.attempt_by_reference(bytes_of(reference));
  noted.fence = (*was)->fence.value;
  const auto is = before((*was)->key);
  noted.bare = happened && (!is || !is->response || is->response->kept == BodyKept::NotKept);
  if (happened && !noted.bare) {
    noted.status = resolution.response->status;
    noted.digest = digest_of(resolution.response->body);
  }
  history_.add(noted);
  return reply;
}

std::vector<RecordView> StoreServer::all() {
  ListFilter filter;
  filter.limit = 1000;
  auto page = run(store_->list(filter));
  return page ? std::move(page->records) : std::vector<RecordView>();
}

void StoreServer::note_difference(const std::vector<RecordView>& was, Kind erased,
                                  const IdempotencyKey* but) {
  if (was.empty()) return;
  const std::vector<RecordView> now = all();
  for (const RecordView& then : was) {
    if (but != nullptr && then.key == *but) continue;
    const auto still = std::ranges::find(now, then.fence, &RecordView::fence);
    Happening noted = note(erased, {}, then.key);
    noted.attempt = history_.attempt_by_reference(bytes_of(then.reference));
    noted.fence = then.fence.value;
    if (still == now.end()) {
      history_.add(noted);
    } else if (still->state == RecordView::State::Indeterminate &&
               then.state == RecordView::State::InFlight) {
      noted.kind = Kind::Marked;
      noted.because = Because::OwnerLost;
      history_.add(noted);
    }
  }
}

Result<SweepReport> StoreServer::sweep(std::size_t limit) {
  const auto was = all();
  auto report = run(store_->sweep(limit));
  if (report && report->expired + report->owner_lost > 0) note_difference(was, Kind::Expired);
  return report;
}

Result<std::size_t> StoreServer::forget(const std::string& tenant) {
  const auto was = all();
  auto forgotten = run(store_->forget(tenant));
  note_difference(was, Kind::Forgotten);
  return forgotten;
}

Result<RecordPage> StoreServer::list(ListFilter filter) {
  return run(store_->list(std::move(filter)));
}

Result<std::optional<RecordView>> StoreServer::find(const IdempotencyKey& key) {
  return run(store_->find(key));
}

}  // namespace semel::sim
