// The only file that knows xxHash, whose header brings its code along.
#include "stores/row_tally.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <limits>

namespace semel {
namespace {

void put(std::array<char, 16>& bytes, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

}  // namespace

RowHash::RowHash(std::string_view store_id) : seed_(xxh64(store_id, 0)) {}

std::uint64_t RowHash::of(std::uint64_t seq, std::string_view key, std::string_view entry,
                          std::optional<std::uint64_t> response_bytes) const {
  std::array<char, 16> numbers;
  put(numbers, 0, seq);
  put(numbers, 8, response_bytes.value_or(std::numeric_limits<std::uint64_t>::max()));
  return xxh64({numbers.data(), numbers.size()}, xxh64(entry, xxh64(key, seed_)));
}

}  // namespace semel
