#include "stores/record.h"

#include <algorithm>

namespace semel {
namespace {

std::optional<StoreTime> window_end(const Record& record, std::chrono::seconds retention,
                                    std::optional<std::chrono::seconds> indeterminate_retention) {
  switch (record.state) {
    case Record::State::Completed:
    case Record::State::Freed:
      return later(record.changed_at, retention);
    case Record::State::Indeterminate:
      if (!indeterminate_retention) return std::nullopt;
      return later(record.changed_at, *indeterminate_retention);
    case Record::State::InFlight:
    case Record::State::Corrupt:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

bool Record::belongs_to(const Attempt& attempt) const {
  return token == attempt.token && (attempt.fence.value == 0 || fence == attempt.fence);
}

std::optional<StoreTime> Record::expires_at() const {
  return window_end(*this, retention, indeterminate_retention);
}

std::optional<StoreTime> Record::expires_at(const ClaimRequest& request) const {
  std::optional<std::chrono::seconds> longer;
  if (indeterminate_retention && request.indeterminate_retention) {
    longer = std::max(*indeterminate_retention, *request.indeterminate_retention);
  }
  return window_end(*this, std::max(retention, request.retention), longer);
}

bool Record::expired(const Now& now) const {
  const auto end = expires_at();
  return end && now.time >= *end;
}

bool reason_ends_attempt(IndeterminateReason reason) {
  switch (reason) {
    case IndeterminateReason::Cut:
    case IndeterminateReason::Malformed:
    case IndeterminateReason::UpstreamStatus:
    case IndeterminateReason::Unrecorded:
      return true;
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
