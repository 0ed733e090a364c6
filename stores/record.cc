#include "stores/record.h"

#include <algorithm>

namespace semel {
namespace {

/// Two pages for each claim, and for every tenth a new one, its parent and the file's first. Long
/// names leave room for fewer rows in a page, and may need pages of their own.
std::size_t cost_with_names(std::size_t name_bytes) {
  constexpr std::size_t kPages = 3 * 4'096;
  return kPages + 8 * std::min<std::size_t>(name_bytes, 4'096) + 2 * name_bytes;
}

}  // namespace
Bindings Record::bindings() const {
  if (!extras) return {terms->caller, {}, {}};
  return {terms->caller, extras->guards, extras->fingerprint};
}

std::optional<FreedAttempt> Record::freed_before() const {
  return extras ? extras->freed_before : std::nullopt;
}

void Record::set_extras(const GuardDigest& guards, const FingerprintDigest& fingerprint,
                        const std::optional<FreedAttempt>& freed_before) {
  if (guards == GuardDigest{} && fingerprint == FingerprintDigest{} && !freed_before) {
    extras.reset();
  } else {
    extras = std::make_unique<Extras>(Extras{guards, fingerprint, freed_before});
  }
}

Record Record::without_answer() const {
  Record copy;
  copy.token = token;
  copy.reference = reference;
  copy.fence = fence;
  copy.lease_end = lease_end;
  copy.changed_at = changed_at;
  copy.created = created;
  copy.changed = changed;
  copy.terms = terms;
  if (extras) copy.extras = std::make_unique<Extras>(*extras);
  copy.row = row;
  copy.upstream_status = upstream_status;
  copy.reason = reason;
  copy.state = state;
  copy.forgotten = forgotten;
  return copy;
}

bool Record::belongs_to(const Attempt& attempt) const {
  return token == attempt.token && (attempt.fence.value == 0 || fence == attempt.fence);
}

bool Record::has_window() const {
  return terms && state != State::InFlight && state != State::Corrupt;
}

Window Record::window() const { return {terms->retention, terms->indeterminate_retention}; }

std::optional<StoreTime> Record::end_of(const Window& window) const {
  if (!has_window()) return std::nullopt;
  if (state != State::Indeterminate) return later(changed_at, window.retention);
  if (!window.indeterminate_retention) return std::nullopt;
  return later(changed_at, *window.indeterminate_retention);
}

std::size_t Record::open_cost() const {
  if (state != State::InFlight) return 0;
  return completion_cost(*terms);
}

std::optional<StoreTime> Record::due_at(const Window& window) const {
  if (!terms) return std::nullopt;
  if (state != State::InFlight) return end_of(window);
  if (policy() == Policy::Effectful) return lease_end;
  if (!window.indeterminate_retention) return std::nullopt;
  return later(lease_end, *window.indeterminate_retention);
}

Window longer(const Window& a, const Window& b) {
  Window longer{std::max(a.retention, b.retention), std::nullopt};
  if (a.indeterminate_retention && b.indeterminate_retention) {
    longer.indeterminate_retention =
        std::max(*a.indeterminate_retention, *b.indeterminate_retention);
  }
  return longer;
}

bool reason_ends_attempt(IndeterminateReason reason) {
  switch (reason) {
    case IndeterminateReason::Cut:
    case IndeterminateReason::UpstreamStatus:
    case IndeterminateReason::Unrecorded:
      return true;
    // Here it was not the tool that ended the connection: it may be at work still.
    case IndeterminateReason::Malformed:
    case IndeterminateReason::Timeout:
    case IndeterminateReason::OwnerLost:
    case IndeterminateReason::Internal:
      return false;
  }
  return false;
}

StoreTime later(StoreTime time, std::chrono::milliseconds span) {
  const auto room = std::chrono::duration_cast<std::chrono::milliseconds>(StoreTime::max() - time);
  return span >= room ? StoreTime::max() : time + span;
}

StoreTime later(StoreTime time, std::chrono::seconds span) {
  const auto room = std::chrono::duration_cast<std::chrono::seconds>(StoreTime::max() - time);
  return span >= room ? StoreTime::max() : time + span;
}

std::size_t completion_cost(const ClaimRequest& request) {
  return cost_with_names(request.tenant.size() + request.route.size());
}

std::size_t completion_cost(const ClaimTerms& terms) {
  return cost_with_names(terms.tenant.size() + terms.route.size());
}

std::size_t stored_bytes(const StoredResponse& response) {
  return response.fields.text().size() + response.body.size();
}

StoredResponsePtr without_payload(const StoredResponse& response) {
  auto bare = std::make_shared<StoredResponse>();
  bare->status = response.status;
  bare->kept = BodyKept::NotKept;
  return bare;
}

}  // namespace semel
