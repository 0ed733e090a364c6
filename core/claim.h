#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace semel {

/// SHA-256, 32 bytes. A type of its own for each use, so that two cannot be mixed up.
template <class Tag>
struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Digest&) const = default;
};

/// What is claimed: SHA-256 over the canonical encoding of one call (docs/key-format.md).
using IdempotencyKey = Digest<struct IdempotencyKeyTag>;
/// Who may see the replay. All zero where the route binds no caller.
using CallerDigest = Digest<struct CallerTag>;
/// The guard values that must match. All zero where the route has no guards.
using GuardDigest = Digest<struct GuardTag>;
/// The payload behind a client's own key. All zero for derived keys.
using FingerprintDigest = Digest<struct FingerprintTag>;

/// 128 random bits. A type of its own for each use.
template <class Tag>
struct Random128 {
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const Random128&) const = default;
};

/// Names one attempt to the store. Never shown to anybody.
using ClaimToken = Random128<struct ClaimTokenTag>;
/// Names one attempt to people: what a client may quote to an operator.
using Reference = Random128<struct ReferenceTag>;

/// Strictly rising number that the store gives with each claim. 0 is never given.
struct Fence {
  std::uint64_t value = 0;
  auto operator<=>(const Fence&) const = default;
};

/// What a record is bound to beside its key, from the claim on (spec 6).
struct Bindings {
  CallerDigest caller;
  GuardDigest guards;
  FingerprintDigest fingerprint;
  bool operator==(const Bindings&) const = default;
};

/// Hexadecimal digits of a known number, without an allocation.
template <std::size_t kDigits>
struct HexText {
  std::array<char, kDigits> digits{};
  [[nodiscard]] std::string_view view() const { return {digits.data(), digits.size()}; }
};

/// Writes two lower-case digits for each byte.
void write_hex(const std::uint8_t* bytes, std::size_t size, char* digits);

template <class Tag>
[[nodiscard]] HexText<64> hex_of(const Digest<Tag>& digest) {
  HexText<64> text;
  write_hex(digest.bytes.data(), digest.bytes.size(), text.digits.data());
  return text;
}
template <class Tag>
[[nodiscard]] HexText<32> hex_of(const Random128<Tag>& id) {
  HexText<32> text;
  write_hex(id.bytes.data(), id.bytes.size(), text.digits.data());
  return text;
}

/// Lower-case hexadecimal, two digits a byte.
[[nodiscard]] std::string to_hex(const std::uint8_t* bytes, std::size_t size);

template <class Tag>
[[nodiscard]] std::string to_hex(const Digest<Tag>& digest) {
  return to_hex(digest.bytes.data(), digest.bytes.size());
}
template <class Tag>
[[nodiscard]] std::string to_hex(const Random128<Tag>& id) {
  return to_hex(id.bytes.data(), id.bytes.size());
}

/// The first 8 hex digits: all of a key that logs and metrics may show (spec 5).
[[nodiscard]] std::string key_prefix(const IdempotencyKey& key);

/// A digest is uniformly spread already: eight of its bytes are a good hash.
struct KeyHash {
  std::size_t operator()(const IdempotencyKey& key) const noexcept {
    std::size_t hash;
    std::memcpy(&hash, key.bytes.data(), sizeof hash);
    return hash;
  }
};

}  // namespace semel
