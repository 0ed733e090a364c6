#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace semel::examples {

/// Splits one JSON object into its members: name to the value's text, as written (`"BA117"`, `2.0`,
/// `{"a":1}`). Escapes are left alone. Enough for a tool that echoes what it was asked.
///
/// @return nullopt when the text is not one object.
[[nodiscard]] std::optional<std::map<std::string, std::string, std::less<>>> split_members(
    std::string_view json);

}  // namespace semel::examples
