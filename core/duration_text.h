#pragma once

#include <chrono>
#include <string>

namespace semel {

/// A short spelling that the configuration reads back: `24h`, `1500ms`.
[[nodiscard]] std::string to_text(std::chrono::milliseconds duration);

}  // namespace semel
