#include "config/units.h"

#include <charconv>

namespace semel::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

/// Largest first, as the shortest spelling is looked for.
constexpr Unit kDurationUnits[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}};
constexpr Unit kSizeUnits[] = {
    {"GiB", 1ull << 30}, {"MiB", 1ull << 20}, {"KiB", 1ull << 10}, {"B", 1}};

constexpr std::uint64_t kDurationMax = 100ull * 366 * 86'400'000;
constexpr std::uint64_t kSizeMax = 1ull << 40;

template <std::size_t N>
std::optional<std::uint64_t> parse(std::string_view text, const Unit (&units)[N],
                                   std::uint64_t max) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == std::string_view::npos) return std::nullopt;
  const auto number = parse_integer(text.substr(0, digits));
  if (!number) return std::nullopt;
  for (const Unit& unit : units) {
    if (text.substr(digits) != unit.name) continue;
    if (*number > max / unit.factor) return std::nullopt;
    return *number * unit.factor;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_integer(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const auto value = parse(text, kDurationUnits, kDurationMax);
  if (!value) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(*value));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  return parse(text, kSizeUnits, kSizeMax);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes == 0) return "0B";
  for (const Unit& unit : kSizeUnits) {
    if (bytes % unit.factor == 0) {
      return std::to_string(bytes / unit.factor) + std::string(unit.name);
    }
  }
  return std::to_string(bytes);
}

}  // namespace semel::config
