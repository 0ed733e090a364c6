#include "core/claim.h"

namespace semel {

void write_hex(const std::uint8_t* bytes, std::size_t size, char* digits) {
  static constexpr auto kPairs = [] {
    constexpr char kDigits[] = "0123456789abcdef";
    std::array<std::array<char, 2>, 256> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kDigits[i >> 4], kDigits[i & 15]};
    return pairs;
  }();
  for (std::size_t i = 0; i < size; ++i) std::memcpy(digits + 2 * i, kPairs[bytes[i]].data(), 2);
}

std::string to_hex(const std::uint8_t* bytes, std::size_t size) {
  std::string text(size * 2, '0');
  write_hex(bytes, size, text.data());
  return text;
}

std::string key_prefix(const IdempotencyKey& key) { return to_hex(key.bytes.data(), 4); }

}  // namespace semel
