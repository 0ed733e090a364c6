#pragma once

#include <string>

namespace semel {

/// Makes a folder where there is none, with those above it. 0700: who may replace the witness may
/// hide a loss.
/// @return False: there is none and none can be made; errno says why.
[[nodiscard]] bool make_private_folder(const std::string& path);

}  // namespace semel
