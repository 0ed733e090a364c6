// How others read a path. Shares nothing with core/normal_path: it is what that is judged by.
#include "tests/fuzz/lenient_path.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace semel::fuzz {
namespace {

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::string folded(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

std::size_t hex_digit(char c) { return std::string_view("0123456789abcdef").find(folded({c})); }

/// Each well-formed escape decoded once; what is none stays.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool whole = text[i] == '%' && i + 2 < text.size();
    const std::size_t high = whole ? hex_digit(text[i + 1]) : std::string::npos;
    const std::size_t low = whole ? hex_digit(text[i + 2]) : std::string::npos;
    if (high == std::string::npos || low == std::string::npos) {
      out += text[i];
      continue;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

Segments split(std::string_view path) {
  Segments segments;
  for (std::size_t at = 0; at != std::string_view::npos && at < path.size();) {
    const std::size_t next = path.find('/', at + 1);
    segments.emplace_back(path.substr(at + 1, next == path.npos ? path.npos : next - at - 1));
    at = next;
  }
  return segments;
}

void cut_parameters(Segments& segments) {
  for (std::string& segment : segments) segment.resize(std::min(segment.find(';'), segment.size()));
}

/// RFC 3986 5.2.4, and empty segments merged as nginx does.
Segments resolved(const Segments& segments) {
  Segments out;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string& segment = segments[i];
    const bool is_last = i + 1 == segments.size();
    const bool is_dot = segment == "." || segment == "..";
    if (segment == ".." && !out.empty()) out.pop_back();
    if (is_last && (is_dot || segment.empty())) {
      out.emplace_back();
    } else if (!is_dot && !segment.empty()) {
      out.push_back(segment);
    }
  }
  return out;
}

}  // namespace

Segments decoded_segments(std::string_view path) {
  Segments segments = split(path);
  std::ranges::transform(segments, segments.begin(), decoded);
  return segments;
}

std::vector<Segments> lenient_readings(std::string_view path) {
  std::set<Segments> readings;
  const auto add = [&](Segments segments) {
    readings.insert(segments);
    if (!segments.empty() && segments.back().empty()) {
      segments.pop_back();
    } else {
      segments.emplace_back();
    }
    readings.insert(std::move(segments));
  };
  add(decoded_segments(path));
  std::string text(path);
  for (int round = 0; round < 3; ++round) {
    text = decoded(text);
    std::string slashed = text;
    std::ranges::replace(slashed, '\\', '/');
    for (const std::string& spelling : {text, slashed}) {
      Segments cut = split(spelling);
      add(resolved(cut));
      cut_parameters(cut);
      add(resolved(cut));
    }
  }
  return {readings.begin(), readings.end()};
}

std::optional<Segments> spelled_as(std::span<const PatternSegment> pattern,
                                   const Segments& segments, Case letters) {
  using Kind = PatternSegment::Kind;
  Segments meant;
  for (const PatternSegment& part : pattern) {
    const std::size_t i = meant.size();
    if (i >= segments.size()) return std::nullopt;
    if (part.kind == Kind::Rest) {
      meant.insert(meant.end(), segments.begin() + static_cast<std::ptrdiff_t>(i), segments.end());
      return meant;
    }
    if (part.kind == Kind::Param && segments[i].empty()) return std::nullopt;
    const bool equal = letters == Case::Counts ? part.text == segments[i]
                                               : folded(part.text) == folded(segments[i]);
    if (part.kind == Kind::Literal && !equal) return std::nullopt;
    meant.push_back(part.kind == Kind::Literal ? part.text : segments[i]);
  }
  if (meant.size() != segments.size()) return std::nullopt;
  return meant;
}

std::string escaped(const Segments& segments) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string path;
  for (const std::string& segment : segments) {
    path += '/';
    for (const char c : segment) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (is_unreserved(c)) {
        path += c;
      } else {
        path += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
      }
    }
  }
  return path;
}

bool is_plain_path(std::string_view path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::string_view rest = path.substr(i);
    if (rest.front() == '%') {
      if (rest.size() < 3 || escaped({decoded(rest.substr(0, 3))}) != "/" + std::string(rest, 0, 3))
        return false;
      i += 2;
    } else if (!is_unreserved(rest.front()) &&
               std::string_view("/!$&'()*+,;=:@").find(rest.front()) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace semel::fuzz
