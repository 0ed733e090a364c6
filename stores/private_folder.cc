#include "stores/private_folder.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace semel {

bool make_private_folder(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return true;
  if (!std::filesystem::create_directories(path, error)) {
    errno = error.value();
    return false;
  }
  std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
  return true;
}

}  // namespace semel
