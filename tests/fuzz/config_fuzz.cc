// The configuration's reader on any bytes: a configuration that is complete, or a ConfigError that
// names the file; never another exception.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/load.h"
#include "core/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto environment = [](const std::string& name) -> std::optional<std::string> {
    return name == "SET" ? std::optional<std::string>("off") : std::nullopt;
  };
  try {
    const auto config = semel::config::load_text(text, "f", environment);
    SEMEL_CHECK(!config.routes.empty() && !config.upstreams.empty());
  } catch (const semel::config::ConfigError& error) {
    SEMEL_CHECK(std::string_view(error.what()).starts_with("f:"));
  }
  return 0;
}
