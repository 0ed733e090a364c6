#pragma once

#include <optional>
#include <string_view>

#include "core/result.h"
#include "stores/event.h"
#include "stores/record.h"
#include "stores/record_view.h"

namespace semel {

/// A record as stores/redis/header.lua packed it, for people to read.
struct RedisRecord {
  RecordView view;         ///< Without key, response and what depends on the time.
  StoreTime lease_end{0};  ///< In the server's time.
  StoreTime created{0};
  std::size_t header_bytes = 0;  ///< Behind them lies the answer.

  /// As it is `now`.
  /// @param window_end  When its window ends; absent: never.
  [[nodiscard]] RecordView view_at(StoreTime now, std::optional<StoreTime> window_end) const;
};

/// @faults RecordCorrupt: not what the scripts write. They compare its checksum.
[[nodiscard]] Result<RedisRecord> decode_redis_record(std::string_view bytes);

/// An event as stores/redis/changes.lua packed it, without its position.
/// @faults RecordCorrupt.
[[nodiscard]] Result<TransitionEvent> decode_redis_event(std::string_view bytes);

}  // namespace semel
