#pragma once

#include <string>
#include <string_view>

namespace semel {

/// SHA-1 as 40 hex digits. A name that another program knows a text by, and no proof of anything:
/// whoever wants one of those takes sha256.
[[nodiscard]] std::string sha1_hex(std::string_view bytes);

}  // namespace semel
