#include <array>
#include <bit>
#include <cstring>

#include "stores/record_codec.h"

namespace semel {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Table k holds the CRC of one byte followed by k zero bytes: eight bytes are folded at a time.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t crc = 0xFFFFFFFFu;
  while (bytes.size() >= 8) {
    std::uint32_t low;
    std::uint32_t high;
    std::memcpy(&low, bytes.data(), 4);
    std::memcpy(&high, bytes.data() + 4, 4);
    low ^= crc;
    crc = kTables[7][low & 0xFF] ^ kTables[6][(low >> 8) & 0xFF] ^ kTables[5][(low >> 16) & 0xFF] ^
          kTables[4][low >> 24] ^ kTables[3][high & 0xFF] ^ kTables[2][(high >> 8) & 0xFF] ^
          kTables[1][(high >> 16) & 0xFF] ^ kTables[0][high >> 24];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  }
  return ~crc;
}

}  // namespace semel
