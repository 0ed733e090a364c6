#include "tests/support/installed.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace semel::testing {

std::optional<std::string> installed(std::string_view program) {
  const char* path = std::getenv("PATH");
  const std::string more = ":/usr/bin:/usr/sbin:/usr/lib/postgresql/15/bin";
  std::istringstream folders((path != nullptr ? path : "") + more);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path file = std::filesystem::path(folder) / program;
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file.string();
  }
  return std::nullopt;
}

std::optional<Account> unprivileged() {
  if (::geteuid() != 0) return std::nullopt;
  for (const char* name : {"postgres", "nobody"}) {
    const passwd* entry = ::getpwnam(name);
    if (entry != nullptr) return Account{entry->pw_uid, entry->pw_gid};
  }
  throw std::runtime_error("neither postgres nor nobody is a user of this machine");
}

std::vector<std::string> tied_to_us(std::vector<std::string> command,
                                    std::optional<Account> account) {
  std::vector<std::string> tied{installed("setpriv").value(), "--pdeathsig", "KILL"};
  if (account) {
    tied.insert(tied.end(), {"--reuid", std::to_string(account->user), "--regid",
                             std::to_string(account->group), "--clear-groups"});
  }
  tied.insert(tied.end(), command.begin(), command.end());
  return tied;
}

}  // namespace semel::testing
