#include "stores/event_span.h"

#include <charconv>
#include <optional>

namespace semel {
namespace {

/// Only what std::to_string() writes.
std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stopped != end || std::to_string(number) != digits) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::string EventSpan::position(std::uint64_t number) const {
  return log + '-' + std::to_string(number);
}

Result<std::variant<std::uint64_t, EventGap>> EventSpan::find(std::string_view after) const {
  using Found = std::variant<std::uint64_t, EventGap>;
  if (after.empty()) return Found(trimmed);
  if (!after.starts_with(log) || !after.substr(log.size()).starts_with('-')) {
    return Fault::RecordCorrupt;
  }
  const auto number = parse_number(after.substr(log.size() + 1));
  if (!number || *number > last) return Fault::RecordCorrupt;
  if (*number < trimmed) return Found(EventGap{position(trimmed)});
  return Found(*number);
}

}  // namespace semel
