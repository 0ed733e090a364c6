#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace semel::testing {

/// A folder of its own, removed with all that is in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// The whole file, or an empty text if there is none.
[[nodiscard]] std::string read_file(const std::string& path);
/// Replaces the file. @throws std::runtime_error if it cannot be written.
void write_file(const std::string& path, std::string_view text);

}  // namespace semel::testing
