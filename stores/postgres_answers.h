#pragma once

#include <optional>
#include <string>
#include <variant>

#include "core/result.h"
#include "stores/claim_reply.h"
#include "stores/event.h"
#include "stores/pg_value.h"
#include "stores/record_view.h"
#include "stores/store.h"

namespace semel::postgres {

// What the functions of the schema `semel` answer, read. Whatever is not what they say is
// RecordCorrupt, never the more permissive answer.

struct ClaimAnswer {
  Result<ClaimReply> reply = Fault::RecordCorrupt;
  bool is_unmet = false;  ///< The store is another one than the asker knows: nothing was done.
  /// How often operators have given their word, where there is a store.
  std::optional<std::int64_t> acknowledgements;
};
[[nodiscard]] ClaimAnswer claim_answer(const PgRow& row);

/// How an attempt ended, and whether somebody waits to hear of it.
struct WriteAnswer {
  Result<WriteReply> reply = Fault::RecordCorrupt;
  bool is_watched = false;
};
[[nodiscard]] WriteAnswer write_answer(const PgRow& row);

struct ResolveAnswer {
  Result<ResolveReply> reply = Fault::RecordCorrupt;
  PgValue watched;  ///< The key, if somebody waits for it.
};
[[nodiscard]] ResolveAnswer resolve_answer(const PgRow& row);

struct SweepAnswer {
  SweepReport report;
  PgValue watched;  ///< The keys that somebody waits for, as an array, if there are any.
};
[[nodiscard]] Result<SweepAnswer> sweep_answer(const PgRow& row);

/// @param row  Of `semel.find`.
[[nodiscard]] Result<RecordView> found_record(const PgRow& row);
/// @param row  Of `semel.list`. @return Absent: none fits.
[[nodiscard]] Result<std::optional<RecordView>> listed_record(const PgRow& row);
[[nodiscard]] std::optional<Fence> looked_to(const PgRow& row);

/// A place in the transition log: the order in which transactions began, and that of the events of
/// one. After a loss others may have the same numbers: when it happened tells them apart.
struct EventPlace {
  std::uint64_t xid = 0;
  std::uint64_t seq = 0;
  std::uint64_t at = 0;  ///< Microseconds since 1970. All zero: before the first event.
  auto operator<=>(const EventPlace&) const = default;
};
/// `LOG-XID-SEQ-AT`, where the log is named after the store.
[[nodiscard]] std::string position_of(const std::string& store_id, const EventPlace& place);
/// @faults RecordCorrupt: no position of this store.
[[nodiscard]] Result<EventPlace> place_of(const std::string& store_id, const std::string& position);

/// @param after  The place that was asked for; absent: from the oldest.
/// @return A gap also where it is a place in what the store was before it lost something.
[[nodiscard]] Result<std::variant<EventPage, EventGap>> event_answer(
    const PgRows& answer, const std::optional<EventPlace>& after);

}  // namespace semel::postgres
