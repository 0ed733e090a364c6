#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/route.h"

namespace semel {

/// Parses `/tools/{id}/book` or `/files/*`. @return the segments, or a sentence that says what is
/// wrong.
[[nodiscard]] std::variant<std::vector<PatternSegment>, std::string> parse_pattern(
    std::string_view pattern);

/// True if the decoded `path` is one of the pattern's. A {param} takes one segment that is not
/// empty; a final `*` takes one or more, an empty last one among them: `/files/*` has `/files/`,
/// not `/files`.
[[nodiscard]] bool pattern_matches(std::span<const PatternSegment> pattern,
                                   std::span<const std::string> path);

/// The same but for ASCII case in literals and one final slash more or less.
[[nodiscard]] bool pattern_nearly_matches(std::span<const PatternSegment> pattern,
                                          std::span<const std::string> path);

/// True if every path of `narrow` is one of `wide`.
[[nodiscard]] bool pattern_covers(std::span<const PatternSegment> wide,
                                  std::span<const PatternSegment> narrow);

/// The paths that both have, as a pattern: `/a/{x}` and `/{y}/b` meet in `/a/b`. Nothing where no
/// path is one of both. The names of its parameters are of no account.
[[nodiscard]] std::optional<std::vector<PatternSegment>> pattern_meet(
    std::span<const PatternSegment> a, std::span<const PatternSegment> b);

}  // namespace semel
