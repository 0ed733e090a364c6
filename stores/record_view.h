#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stores/claim_reply.h"

namespace semel {

/// A record as an operator or a test sees it. Never arguments, never a token.
struct RecordView {
  enum class State : std::uint8_t { InFlight, Completed, Indeterminate };
  IdempotencyKey key;
  Reference reference;
  State state = State::InFlight;
  Policy policy = Policy::Effectful;
  Fence fence;
  std::string tenant;
  std::string route;
  std::optional<IndeterminateReason> reason;
  std::optional<std::uint16_t> upstream_status;
  StoredResponsePtr response;  ///< Completed only; null in a list().
  /// In flight and indeterminate: how long the attempt may still run; 0 or less: it is over.
  std::chrono::milliseconds lease_left{0};
  std::optional<std::chrono::seconds> expires_in;  ///< Absent: never.
  std::chrono::system_clock::time_point created;
  std::chrono::system_clock::time_point changed;
};

/// Which records list() shows, and where it goes on.
struct ListFilter {
  std::optional<RecordView::State> state;
  std::optional<std::string> tenant;
  std::string after;        ///< `next` of the page before; empty: from the start.
  std::size_t limit = 100;  ///< 1-1000.
};
struct RecordPage {
  std::vector<RecordView> records;
  std::string next;  ///< Empty: the last page.
};

}  // namespace semel
