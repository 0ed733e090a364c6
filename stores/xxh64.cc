#include "stores/xxh64.h"

#include <array>
#include <bit>
#include <cstring>

namespace semel {
namespace {

static_assert(std::endian::native == std::endian::little);

// The names and values of the specification.
constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87u;
constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4Fu;
constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9u;
constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63u;
constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5u;

/// Takes one integer off the front.
template <class Integer>
std::uint64_t take(std::string_view& bytes) {
  Integer value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

std::uint64_t round(std::uint64_t accumulator, std::uint64_t lane) {
  return std::rotl(accumulator + lane * kPrime2, 31) * kPrime1;
}

std::uint64_t merge(std::uint64_t accumulator, std::uint64_t lane) {
  return (accumulator ^ round(0, lane)) * kPrime1 + kPrime4;
}

/// What the stripes of 32 bytes come to; takes them off the front.
std::uint64_t fold_stripes(std::string_view& bytes, std::uint64_t seed) {
  std::array<std::uint64_t, 4> lanes = {seed + kPrime1 + kPrime2, seed + kPrime2, seed,
                                        seed - kPrime1};
  while (bytes.size() >= 32) {
    for (std::uint64_t& lane : lanes) lane = round(lane, take<std::uint64_t>(bytes));
  }
  std::uint64_t folded = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                         std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) folded = merge(folded, lane);
  return folded;
}

}  // namespace

std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed) {
  const std::uint64_t length = bytes.size();
  std::uint64_t hash = length >= 32 ? fold_stripes(bytes, seed) : seed + kPrime5;
  hash += length;
  while (bytes.size() >= 8) {
    hash = std::rotl(hash ^ round(0, take<std::uint64_t>(bytes)), 27) * kPrime1 + kPrime4;
  }
  if (bytes.size() >= 4) {
    hash = std::rotl(hash ^ (take<std::uint32_t>(bytes) * kPrime1), 23) * kPrime2 + kPrime3;
  }
  while (!bytes.empty()) {
    hash = std::rotl(hash ^ (take<std::uint8_t>(bytes) * kPrime5), 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace semel
