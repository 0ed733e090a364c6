#include "stores/store_files.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
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

bool begins_as(const std::string& path, const std::string& store_id) {
  std::string pages(64ull * 1'024, '\0');
  std::ifstream(path, std::ios::binary).read(pages.data(), std::ssize(pages));
  return pages.find(store_id) != std::string::npos;
}

}  // namespace semel
