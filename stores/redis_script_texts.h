#pragma once

#include <string_view>

namespace semel {

/// The text of stores/redis/NAME.lua behind the pieces that it needs, as the build put it together
/// (cmake/SemelLua.cmake). A broken program where there is no such script.
[[nodiscard]] std::string_view redis_script_text(std::string_view name);

}  // namespace semel
