// The configuration's reader on any bytes: a configuration that is complete and keeps what the
// promise asks of it, or a ConfigError that names the file; never another exception.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "config/load.h"
#include "core/check.h"
#include "core/route_table.h"

namespace {

/// What spec 4 says of every configuration that was taken, whatever its text was.
void check_route(const semel::config::Config& config, const semel::Route& route) {
  SEMEL_CHECK(!route.name.empty() && !route.segments.empty());
  SEMEL_CHECK(route.upstream < config.upstreams.size());
  SEMEL_CHECK(config.upstreams[route.upstream].name == route.upstream_name);
  if (!semel::is_keyed(route.policy)) return;
  SEMEL_CHECK(route.key.tenant.has_value() && route.allow_escapes.empty() && !route.upgrade);
  SEMEL_CHECK(route.lease() < route.retention);
  SEMEL_CHECK(!route.indeterminate_retention || *route.indeterminate_retention >= route.retention);
  SEMEL_CHECK(!route.redelivery_horizon || *route.redelivery_horizon <= route.retention);
  SEMEL_CHECK((route.record.release_on & route.record.indeterminate_on).none());
  const auto* memory = std::get_if<semel::config::MemoryStore>(&config.store);
  if (route.policy == semel::Policy::Effectful && memory) SEMEL_CHECK(memory->allow_volatile);
}

void check_routes(const semel::config::Config& config) {
  for (std::size_t later = 0; later < config.routes.size(); ++later) {
    check_route(config, config.routes[later]);
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      SEMEL_CHECK(config.routes[earlier].name != config.routes[later].name);
      SEMEL_CHECK(!semel::shadows(config.routes[earlier], config.routes[later]));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto environment = [](const std::string& name) -> std::optional<std::string> {
    return name == "SET" ? std::optional<std::string>("off") : std::nullopt;
  };
  try {
    const auto config = semel::config::load_text(text, "f", environment);
    SEMEL_CHECK(!config.routes.empty() && !config.upstreams.empty());
    check_routes(config);
  } catch (const semel::config::ConfigError& error) {
    SEMEL_CHECK(std::string_view(error.what()).starts_with("f:"));
  }
  return 0;
}
