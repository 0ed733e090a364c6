#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::testing {

/// Where a program of the system is: on PATH, or where Debian puts what is not on everybody's.
/// @return Absent where it is not installed.
[[nodiscard]] std::optional<std::string> installed(std::string_view program);

/// A user of this machine.
struct Account {
  uid_t user = 0;
  gid_t group = 0;
};

/// The user for a program that refuses to run as root; absent where we are nobody special.
[[nodiscard]] std::optional<Account> unprivileged();

/// A command whose process dies with the thread that starts it, however that ends. Its pid is the
/// one that was started.
/// @param command  The program's path first.
/// @param account  Who runs it; absent: who runs the test.
[[nodiscard]] std::vector<std::string> tied_to_us(std::vector<std::string> command,
                                                  std::optional<Account> account = std::nullopt);

}  // namespace semel::testing
