#pragma once

#include <string>
#include <string_view>

namespace semel {

/// Appends `bytes` as one JSON string, quotes included (RFC 8259 7). Any bytes may be given: what
/// is no UTF-8 becomes U+FFFD, one for each maximal broken part (Unicode 15, 3.9, "best practice").
void append_json_string(std::string& out, std::string_view bytes);

}  // namespace semel
