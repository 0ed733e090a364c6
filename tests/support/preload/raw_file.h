#pragma once

// File calls past the ones that power_loss.cc replaces: straight to the kernel.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace semel::power_loss::raw {

inline int open(const std::string& path, int flags, mode_t mode = 0600) {
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path.c_str(), flags | O_CLOEXEC, mode));
}
inline int close(int fd) { return static_cast<int>(::syscall(SYS_close, fd)); }
inline ssize_t write(int fd, const void* bytes, std::size_t size) {
  return ::syscall(SYS_write, fd, bytes, size);
}
inline ssize_t write_at(int fd, const void* bytes, std::size_t size, off_t at) {
  return ::syscall(SYS_pwrite64, fd, bytes, size, at);
}
inline int truncate(int fd, off_t size) {
  return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}
inline int sync(int fd) { return static_cast<int>(::syscall(SYS_fsync, fd)); }
inline int unlink(const char* path) {
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
inline int rename(const char* from, const char* to) {
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

/// A file that is closed in time.
class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path, flags)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

inline std::uint64_t size_of(int fd) {
  struct stat status{};
  return ::fstat(fd, &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace semel::power_loss::raw
