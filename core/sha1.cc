#include "core/sha1.h"

#include <openssl/evp.h>

#include <array>

#include "core/check.h"

namespace semel {

std::string sha1_hex(std::string_view bytes) {
  std::array<unsigned char, 20> digest{};
  unsigned size = 0;
  SEMEL_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha1(), nullptr) ==
              1);
  SEMEL_CHECK(size == digest.size());
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace semel
