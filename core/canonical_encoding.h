#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/digest.h"

namespace semel {

/// The type byte that every component begins with.
/// @source docs/key-format.md, "Encoding": the bytes are a public contract and never change
/// meaning.
enum class EncodingTag : char {
  Absent = 'X',
  Null = 'N',
  False = 'F',
  True = 'T',
  Decimal = 'D',  ///< Canonical decimal in ASCII (decimal.h).
  Text = 'S',     ///< UTF-8 in NFC.
  Bytes = 'B',
  Array = 'A',   ///< Followed by as many components as its length says.
  Object = 'O',  ///< Followed by as many pairs of a Text and a component, sorted by name.
  Frame = 'K',   ///< The outermost component of whatever is hashed.
};

/// Writes the canonical encoding straight into a hasher: a type byte, a length of four bytes (big
/// endian), the content. Nobody but the hasher keeps what was written, unless a transcript is
/// asked.
class CanonicalWriter {
 public:
  /// @param hasher      As new. Used until `finish`.
  /// @param transcript  Gets every byte that is hashed, for `explain`; null: none.
  explicit CanonicalWriter(Sha256& hasher, std::string* transcript = nullptr)
      : hasher_(hasher), transcript_(transcript) {}
  CanonicalWriter(const CanonicalWriter&) = delete;
  CanonicalWriter& operator=(const CanonicalWriter&) = delete;

  /// Writes tag and length only: of Absent, Null, False, True (0), or of a container (its count).
  void open(EncodingTag tag, std::size_t length = 0) { leaf(tag, length, {}); }
  void text(std::string_view utf8) { leaf(EncodingTag::Text, utf8); }
  void bytes(std::string_view content) { leaf(EncodingTag::Bytes, content); }
  void decimal(std::string_view canonical) { leaf(EncodingTag::Decimal, canonical); }

  [[nodiscard]] Sha256Bytes finish();

 private:
  /// Type byte and length.
  static constexpr std::size_t kHeadBytes = 5;

  void leaf(EncodingTag tag, std::string_view content) { leaf(tag, content.size(), content); }
  void leaf(EncodingTag tag, std::size_t length, std::string_view content);
  void absorb(std::string_view bytes);
  void flush();

  Sha256& hasher_;
  std::string* transcript_;
  std::array<char, 512> buffer_;  // NOLINT: filled up to `used_`.
  std::size_t used_ = 0;
};

}  // namespace semel
