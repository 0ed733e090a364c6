#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace semel {

/// A descriptor that is closed in time.
class File {
 public:
  /// @param mode  Of a file that is made.
  explicit File(const std::string& path, int flags, int mode = 0600)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Negative: it could not be opened; errno says why.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Writes all of `text`. @return False: errno says why; a part of it may have been written.
[[nodiscard]] bool write_all(const File& file, std::string_view text);

/// @return What the file holds, at most `bytes_max` of it; absent: errno says why.
[[nodiscard]] std::optional<std::string> read_file(const std::string& path, std::size_t bytes_max);

/// Replaces a file whole (0600), by way of `<path>.new`: a reader, and a loss of power, find the
/// old one or the new one.
/// @return Empty: it is on the disk. Otherwise what the system said; the old file stands, or the
/// new
///         one is there and may be gone after a loss of power.
[[nodiscard]] std::string replace_file(const std::string& path, std::string_view text);

}  // namespace semel
