#include "core/duration_text.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace semel {

std::string to_text(std::chrono::milliseconds duration) {
  if (duration.count() == 0) return "0s";
  if (duration == std::chrono::hours(24)) return "24h";  // As people say it.
  static constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}};
  for (const auto& [name, factor] : kUnits) {
    if (duration.count() % factor == 0) {
      return std::to_string(duration.count() / factor) + std::string(name);
    }
  }
  return std::to_string(duration.count()) + "ms";
}

}  // namespace semel
