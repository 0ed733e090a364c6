#include "core/claim.h"

namespace semel {

void write_hex(const std::uint8_t* bytes, std::size_t size, char* digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < size; ++i) {
    *digits++ = kDigits[bytes[i] >> 4];
    *digits++ = kDigits[bytes[i] & 15];
  }
}

std::string to_hex(const std::uint8_t* bytes, std::size_t size) {
  std::string text(size * 2, '0');
  write_hex(bytes, size, text.data());
  return text;
}

std::string key_prefix(const IdempotencyKey& key) { return to_hex(key.bytes.data(), 4); }

}  // namespace semel
