#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace semel::proxy {

/// `semel check CONFIG`: reads the file as `serve` would and prints every route as it will be
/// carried out, then what an operator should know.
/// @return The exit code: 0, or 2 with the first error on `err`.
[[nodiscard]] int run_check(std::span<const std::string> args, std::ostream& out,
                            std::ostream& err);

}  // namespace semel::proxy
