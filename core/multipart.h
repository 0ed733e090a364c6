#pragma once

#include <string_view>
#include <vector>

namespace semel {

/// Cuts a multipart body at its delimiters, so that what is left does not depend on the boundary,
/// which clients draw anew on every attempt. Preamble and epilogue are pieces too: nothing else is
/// dropped.
/// @param boundary  Not empty.
/// @return At least one piece; views into `body`.
/// @source RFC 2046, section 5.1.1.
[[nodiscard]] std::vector<std::string_view> multipart_pieces(std::string_view body,
                                                             std::string_view boundary);

}  // namespace semel
