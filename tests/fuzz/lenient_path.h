#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/route.h"

namespace semel::fuzz {

/// Percent-decoded segments of a path, without its slashes: `/a/` is `a` and an empty one.
using Segments = std::vector<std::string>;

/// What a reader sees who splits at `/`, then decodes each escape once.
/// @param path  Begins with `/`.
[[nodiscard]] Segments decoded_segments(std::string_view path);

/// The segments in which other servers are known to read a path, each once: decoded up to three
/// times, `\` taken for `/`, `;` and what follows cut off, empty and dot segments resolved, letters
/// folded, one final slash more or less. Whether a path is refused says nothing here.
[[nodiscard]] std::vector<Segments> lenient_readings(std::string_view path);

enum class Case : std::uint8_t { Counts, IsIgnored };

/// The path of `pattern` that `segments` spell, with the pattern's own literals in it; absent where
/// they spell none. A parameter takes one segment that is not empty, a final `*` one or more.
[[nodiscard]] std::optional<Segments> spelled_as(std::span<const PatternSegment> pattern,
                                                 const Segments& segments, Case letters);

/// The plainest spelling of a path: every byte escaped that is not unreserved (RFC 3986 2.3).
[[nodiscard]] std::string escaped(const Segments& segments);

/// True for a path of RFC 3986 characters whose escapes are all in upper case and needed.
[[nodiscard]] bool is_plain_path(std::string_view path);

}  // namespace semel::fuzz
