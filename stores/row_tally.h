#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// What the rows of a log come to, in whatever order they are counted: how many, and the sum of
/// their hashes. Kept beside the rows and changed with them, it tells whether these are still the
/// rows that were written, all of them and no others.
///
/// @source docs/record-format.md, "The tally".
struct RowTally {
  std::uint64_t rows = 0;
  std::uint64_t hash = 0;  ///< Modulo 2^64.

  void count(std::uint64_t hash_of_row) {
    rows += 1;
    hash += hash_of_row;
  }
  void discount(std::uint64_t hash_of_row) {
    rows -= 1;
    hash -= hash_of_row;
  }
  bool operator==(const RowTally&) const = default;
};

/// Hashes the rows of one store.
class RowHash {
 public:
  RowHash() = default;
  /// @param store_id  So that a row of another store counts otherwise, also an equal one.
  explicit RowHash(std::string_view store_id);

  /// @param response_bytes  How long the response is, not what it says: that is in its own
  ///                        checksum, and reading it here would read the whole file at each start.
  ///                        Absent: there is none.
  [[nodiscard]] std::uint64_t of(std::uint64_t seq, std::string_view key, std::string_view entry,
                                 std::optional<std::uint64_t> response_bytes) const;

 private:
  std::uint64_t seed_ = 0;
};

}  // namespace semel
