#include "stores/store_files.h"

#include <cstdint>
#include <filesystem>
#include <system_error>

namespace semel {

std::string reserve_path(const std::string& path) {
  return std::filesystem::canonical(path).string() + ".reserve";
}

bool is_log_beside(const std::string& path) {
  constexpr std::uintmax_t kHeader = 32;
  std::error_code error;
  const auto bytes =
      std::filesystem::file_size(std::filesystem::canonical(path).string() + "-wal", error);
  return !error && bytes > kHeader;
}

}  // namespace semel
