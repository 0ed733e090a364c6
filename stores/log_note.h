#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stores/record.h"
#include "stores/row_tally.h"

namespace semel {

/// Which write-ahead log a commit was made in, and what the file held when that log was begun.
///
/// @source docs/record-format.md, "The log note".
struct LogNote {
  std::uint64_t log_id = 0;       ///< Random, drawn with the first commit of the log.
  std::uint64_t previous_id = 0;  ///< Of the log before, all of which the file held by then.
  RowTally base;                  ///< As the file noted it then.
  bool operator==(const LogNote&) const = default;
};

/// A log note and what stands beside it in the row of `meta`.
struct NotedState {
  LogNote note;
  RowTally tally;
  bool operator==(const NotedState&) const = default;
};

/// @param tally,store  Of the same row: the checksum covers them too, so that a row which was torn,
///                     or which a program that knows no note has changed, has none.
[[nodiscard]] std::string encode_log_note(const LogNote& note, const RowTally& tally,
                                          StoreTime store);
/// @return Absent for everything else than encode_log_note() made of that tally and time.
[[nodiscard]] std::optional<LogNote> decode_log_note(std::string_view bytes, const RowTally& tally,
                                                     StoreTime store);

/// Whether the write-ahead log beside a file is the file's own.
/// @param file      What the file says without it.
/// @param with_log  What it says with it; the same where the log says nothing.
[[nodiscard]] bool is_log_of(const NotedState& file, const NotedState& with_log);

}  // namespace semel
