#pragma once

#include <cstdint>
#include <string_view>

namespace semel {

/// A fast 64-bit hash against accidents, not against somebody who chooses the bytes.
/// @source The xxHash specification, "XXH64 algorithm description".
[[nodiscard]] std::uint64_t xxh64(std::string_view bytes, std::uint64_t seed);

}  // namespace semel
