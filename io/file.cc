#include "io/file.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace semel {
namespace {

/// A rename is on the disk once its folder is.
bool sync_folder_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  const File folder(parent.empty() ? "." : parent.string(), O_RDONLY | O_DIRECTORY);
  return folder.descriptor() >= 0 && ::fsync(folder.descriptor()) == 0;
}

bool write_durably(const std::string& path, std::string_view text) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  return file.descriptor() >= 0 && write_all(file, text) && ::fsync(file.descriptor()) == 0;
}

}  // namespace

bool write_all(const File& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(file.descriptor(), text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

std::optional<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  const File file(path, O_RDONLY);
  if (file.descriptor() < 0) return std::nullopt;
  std::string text;
  char block[16 * 1024];
  while (text.size() < bytes_max) {
    const ssize_t size = ::read(file.descriptor(), block, sizeof block);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return std::nullopt;
    if (size == 0) break;
    text.append(block, static_cast<std::size_t>(size));
  }
  if (text.size() > bytes_max) text.resize(bytes_max);
  return text;
}

std::string replace_file(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  if (write_durably(fresh, text) && ::rename(fresh.c_str(), path.c_str()) == 0 &&
      sync_folder_of(path)) {
    return "";
  }
  return std::generic_category().message(errno);
}

}  // namespace semel
