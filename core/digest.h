#pragma once

#include <openssl/types.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace semel {

using Sha256Bytes = std::array<std::uint8_t, 32>;

/// SHA-256 fed piece by piece, reusable: `finish` leaves it as new.
///
/// Made once and kept, because making one costs more than hashing a key does.
/// @thread One at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(std::string_view bytes);
  [[nodiscard]] Sha256Bytes finish();

 private:
  EVP_MD_CTX* hash_;
};

/// SHA-256 of one piece.
/// @thread Any: each thread keeps a hasher of its own.
[[nodiscard]] Sha256Bytes sha256(std::string_view bytes);

}  // namespace semel
