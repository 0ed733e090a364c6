#include "core/route_pattern.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/header_rules.h"
#include "core/normal_path.h"

namespace semel {
namespace {

using Kind = PatternSegment::Kind;

bool is_param_name(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

/// One segment as written, without slashes.
std::variant<PatternSegment, std::string> parse_segment(std::string_view text) {
  if (text == "*") return PatternSegment{Kind::Rest, ""};
  if (text.size() >= 2 && text.front() == '{' && text.back() == '}') {
    const std::string_view name = text.substr(1, text.size() - 2);
    if (is_param_name(name)) return PatternSegment{Kind::Param, std::string(name)};
    return "a parameter is a name in braces, letters, digits, _ and - such as {id}";
  }
  if (text.find_first_of("{}*") != std::string_view::npos) {
    return "a parameter or * must be a whole segment, as in /accounts/{id}/pay or /files/*";
  }
  if (text.empty()) return PatternSegment{Kind::Literal, ""};
  auto normal = normalise_path(std::string("/").append(text), /*loose=*/false);
  if (const auto* refusal = std::get_if<PathRefusal>(&normal)) return std::string(refusal->reason);
  return PatternSegment{Kind::Literal, std::move(std::get<NormalPath>(normal).segments.front())};
}

enum class Spelling : std::uint8_t { Exact, AnyCase };

/// `path` continued by one empty segment where `path_size` is one more than it has.
bool matches(std::span<const PatternSegment> pattern, std::span<const std::string> path,
             std::size_t path_size, Spelling spelling) {
  const bool has_rest = !pattern.empty() && pattern.back().kind == Kind::Rest;
  if (has_rest ? path_size < pattern.size() : path_size != pattern.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const std::string_view segment = i < path.size() ? std::string_view(path[i]) : "";
    switch (pattern[i].kind) {
      case Kind::Literal:
        if (spelling == Spelling::Exact ? pattern[i].text != segment
                                        : !same_name(pattern[i].text, segment)) {
          return false;
        }
        break;
      case Kind::Param:
        if (segment.empty()) return false;
        break;
      case Kind::Rest:
        return true;
    }
  }
  return true;
}

}  // namespace

std::variant<std::vector<PatternSegment>, std::string> parse_pattern(std::string_view pattern) {
  if (pattern.empty() || pattern.front() != '/') return "a path pattern begins with /";
  std::vector<PatternSegment> segments;
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const std::string_view text = pattern.substr(0, pattern.find('/'));
    pattern.remove_prefix(text.size());
    auto parsed = parse_segment(text);
    if (auto* wrong = std::get_if<std::string>(&parsed)) return std::move(*wrong);
    auto& segment = std::get<PatternSegment>(parsed);
    const bool is_last = pattern.empty();
    if (!is_last && segment.kind == Kind::Rest) return "* may only be the last segment";
    if (!is_last && segment.kind == Kind::Literal && segment.text.empty()) {
      return "the pattern has an empty segment: write a single slash";
    }
    if (segment.kind == Kind::Param && std::ranges::find(segments, segment) != segments.end()) {
      return "the parameter {" + segment.text + "} stands twice in the pattern";
    }
    segments.push_back(std::move(segment));
  }
  return segments;
}

bool pattern_matches(std::span<const PatternSegment> pattern, std::span<const std::string> path) {
  return matches(pattern, path, path.size(), Spelling::Exact);
}

bool pattern_nearly_matches(std::span<const PatternSegment> pattern,
                            std::span<const std::string> path) {
  const bool ends_with_slash = path.size() > 1 && path.back().empty();
  const std::size_t other_size = ends_with_slash ? path.size() - 1 : path.size() + 1;
  return matches(pattern, path, path.size(), Spelling::AnyCase) ||
         matches(pattern, path, other_size, Spelling::AnyCase);
}

bool pattern_covers(std::span<const PatternSegment> wide, std::span<const PatternSegment> narrow) {
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (i == narrow.size()) return false;
    if (wide[i].kind == Kind::Rest) return true;
    if (narrow[i].kind == Kind::Rest) return false;
    if (wide[i].kind == Kind::Literal && wide[i] != narrow[i]) return false;
    if (wide[i].kind == Kind::Param && narrow[i].kind == Kind::Literal && narrow[i].text.empty()) {
      return false;
    }
  }
  return wide.size() == narrow.size();
}

std::optional<std::vector<PatternSegment>> pattern_meet(std::span<const PatternSegment> a,
                                                        std::span<const PatternSegment> b) {
  std::vector<PatternSegment> common;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
    for (const auto& [rest, other] : {std::pair(a, b), std::pair(b, a)}) {
      if (rest[i].kind != Kind::Rest) continue;
      const auto tail = other.subspan(i);
      common.insert(common.end(), tail.begin(), tail.end());
      return common;
    }
    const bool a_is_literal = a[i].kind == Kind::Literal;
    const bool b_is_literal = b[i].kind == Kind::Literal;
    if (a_is_literal && b_is_literal && a[i] != b[i]) return std::nullopt;
    const PatternSegment& narrow = a_is_literal ? a[i] : b[i];
    const bool is_empty = narrow.kind == Kind::Literal && narrow.text.empty();
    if (is_empty && a_is_literal != b_is_literal) return std::nullopt;
    common.push_back(narrow);
  }
  if (a.size() != b.size()) return std::nullopt;
  return common;
}

}  // namespace semel
