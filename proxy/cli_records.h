#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace semel::proxy {

/// `semel records list | show | resolve | forget`: asks the admin listener of the process that
/// serves `--config CONFIG`, which also says where the token is.
/// @return 0; 1 where the listener refused, with its sentence on `err`; 2 for a wrong command line
///         or configuration, and where nobody could be reached.
[[nodiscard]] int run_records(std::span<const std::string> args, std::ostream& out,
                              std::ostream& err);

}  // namespace semel::proxy
