#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.h"
#include "stores/event_span.h"
#include "stores/redis_told.h"

namespace semel {

/// The transition log of a store as one: a position is where each lane's part has been read up to.
/// @source docs/record-format.md, "In Redis".
class RedisLog {
 public:
  /// @param name  The store's: no position of another one is taken for one of this.
  /// @faults RecordCorrupt: `after` is none of a store with that name and so many lanes.
  [[nodiscard]] static Result<RedisLog> after(const EventFilter& filter, const std::string& name,
                                              std::size_t lanes);

  /// The lanes, that which is furthest behind first: none is left waiting for ever.
  [[nodiscard]] std::vector<std::size_t> order() const;
  /// Up to where this lane's part has been read; empty: from the oldest event that it keeps.
  [[nodiscard]] const std::string& read_up_to(std::size_t lane) const { return ends_[lane]; }
  /// True until every lane has said where it begins: ask each for no event first.
  [[nodiscard]] bool is_adrift() const;
  /// How many events of the page are due to the next of so many lanes.
  [[nodiscard]] std::size_t share_of(std::size_t lanes_left) const;
  /// @param told  Of RedisScripts::events.
  [[nodiscard]] Result<void> take(std::size_t lane, RedisTold told);
  [[nodiscard]] std::variant<EventPage, EventGap> reply();

 private:
  RedisLog(std::string name, std::size_t limit) : name_(std::move(name)), limit_(limit) {}
  [[nodiscard]] std::string position_of(const std::vector<std::string>& places) const;

  std::string name_;
  std::vector<std::string> begins_;  ///< By lane: where this reading began.
  std::vector<std::string> ends_;    ///< And how far it has come.
  std::size_t limit_;
  EventPage page_;
  bool has_gap_ = false;
};

}  // namespace semel
