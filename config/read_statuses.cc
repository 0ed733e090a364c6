#include "config/read_statuses.h"

namespace semel::config {
namespace {

constexpr std::uint16_t kFinalMin = 200;
constexpr std::uint16_t kFinalMax = 599;

}  // namespace

StatusSpan read_status(const Value& value) {
  for (const char digit : {'2', '3', '4', '5'}) {
    if (!value.is_word(std::string(1, digit) + "xx")) continue;
    const auto first = static_cast<std::uint16_t>((digit - '0') * 100);
    return {first, static_cast<std::uint16_t>(first + 99)};
  }
  const auto status = static_cast<std::uint16_t>(value.integer({kFinalMin, kFinalMax}));
  return {status, status};
}

StatusSet read_statuses(const Value& value) {
  StatusSet statuses;
  for (const Value& item : value.items()) {
    const StatusSpan span = read_status(item);
    for (std::size_t status = span.first; status <= span.last; ++status) statuses.set(status);
  }
  return statuses;
}

std::string to_text(const StatusSet& statuses) {
  std::string text;
  for (std::size_t first = 0; first < statuses.size(); ++first) {
    if (!statuses.test(first)) continue;
    std::size_t last = first;
    while (last + 1 < statuses.size() && statuses.test(last + 1)) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(first);
    if (last > first) text += (last == first + 1 ? ", " : "-") + std::to_string(last);
    first = last;
  }
  return text.empty() ? "none" : text;
}

}  // namespace semel::config
