#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/duration_text.h"

namespace semel::config {

/// Decimal digits without sign and leading zero. Absent for anything else and for what does not
/// fit.
[[nodiscard]] std::optional<std::uint64_t> parse_integer(std::string_view text);

/// `250ms 30s 5m 24h 7d`. Absent for anything else and for more than a hundred years.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// `512B 64KiB 1MiB 2GiB`. Absent for anything else and for more than 1 TiB.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// What parse_duration reads back.
using semel::to_text;

/// The shortest spelling that parse_size reads back: `64KiB`.
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace semel::config
