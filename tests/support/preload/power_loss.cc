// Loaded with LD_PRELOAD into the program under test: lets the power go. The file named by
// SEMEL_POWER_LOSS (`Plan`) says for which files, and with which of their changes and syncs. The
// program is gone then, by SIGKILL, and its next start, with this library, finds in the files what
// was synced, and of the rest a part that depends on the seed. It is the only end that forgets:
// after a plain SIGKILL what was written is still there, and still unsynced.
//
// What it models: pieces of 512 bytes, alone or in blocks of 4096, reach the disk in any order
// before a sync and are all there after it; a piece is never torn in itself, as SQLite too relies
// on it for none but what its checksums protect. Length and content of an unsynced file part ways.
// Made, moved and removed names are there after a sync of their folder; before that, the oldest
// ones. What it does not: disks that lie (but for `lies`), bits that rot, memory-mapped files,
// descriptors that are duplicated, O_APPEND.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <optional>

#include "tests/support/preload/raw_file.h"
#include "tests/support/preload/synced_disk.h"

namespace {

using semel::power_loss::Plan;
using semel::power_loss::SyncedDisk;
namespace raw = semel::power_loss::raw;

/// Never destroyed: the program may write until its very end.
SyncedDisk& disk() {
  static auto* const disk = new SyncedDisk(Plan::read(std::getenv("SEMEL_POWER_LOSS")));
  return *disk;
}

/// Keeps errno as the call left it.
class SameErrno {
 public:
  ~SameErrno() { errno = errno_; }

 private:
  int errno_ = errno;
};

int open_noted(const char* path, int flags, mode_t mode) {
  const auto held = disk().hold();
  const bool existed = ::access(path, F_OK) == 0;
  const int fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (fd < 0) return fd;
  const SameErrno same;
  using Opening = SyncedDisk::Opening;
  const Opening opened = (flags & O_TRUNC) != 0 ? Opening::Emptied : Opening::Found;
  disk().opened(path, fd, existed ? opened : Opening::Made);
  return fd;
}

mode_t mode_of(int flags, va_list rest) {
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes ? va_arg(rest, mode_t) : 0;
}

/// @param at  Absent: where the descriptor stands.
ssize_t write_noted(int fd, const void* bytes, std::size_t size, std::optional<off_t> at) {
  auto held = disk().hold();
  const bool noted = disk().has(fd);
  // Others may wait for long: in a pipe, say.
  if (!noted) held.unlock();
  const off_t begin = noted && !at ? ::lseek(fd, 0, SEEK_CUR) : at.value_or(0);
  const ssize_t written = at ? raw::write_at(fd, bytes, size, *at) : raw::write(fd, bytes, size);
  const SameErrno same;
  if (noted && written > 0) {
    disk().wrote(fd, static_cast<std::uint64_t>(begin), static_cast<std::size_t>(written));
  }
  return written;
}

int truncate_noted(int fd, off_t size) {
  const auto held = disk().hold();
  const bool shrinks = static_cast<std::uint64_t>(size) < raw::size_of(fd);
  const int result = raw::truncate(fd, size);
  const SameErrno same;
  if (result == 0 && shrinks && disk().has(fd)) {
    disk().shrank(fd, static_cast<std::uint64_t>(size));
  }
  return result;
}

int sync_noted(int fd) {
  auto held = disk().hold();
  if (!disk().has(fd)) {
    held.unlock();
    return raw::sync(fd);
  }
  const SameErrno same;
  disk().synced(fd);
  return 0;
}

}  // namespace

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): these are libc's.
#define SEMEL_EXPORT __attribute__((visibility("default")))

extern "C" {

SEMEL_EXPORT int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_noted(path, flags, mode);
}
SEMEL_EXPORT int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_noted(path, flags, mode);
}
SEMEL_EXPORT int close(int fd) {
  {
    const auto held = disk().hold();
    disk().closed(fd);
  }
  return raw::close(fd);
}
SEMEL_EXPORT ssize_t write(int fd, const void* bytes, std::size_t size) {
  return write_noted(fd, bytes, size, std::nullopt);
}
SEMEL_EXPORT ssize_t pwrite(int fd, const void* bytes, std::size_t size, off_t at) {
  return write_noted(fd, bytes, size, at);
}
SEMEL_EXPORT ssize_t pwrite64(int fd, const void* bytes, std::size_t size, off_t at) {
  return write_noted(fd, bytes, size, at);
}
SEMEL_EXPORT int ftruncate(int fd, off_t size) noexcept { return truncate_noted(fd, size); }
SEMEL_EXPORT int ftruncate64(int fd, off_t size) noexcept { return truncate_noted(fd, size); }
SEMEL_EXPORT int fsync(int fd) { return sync_noted(fd); }
SEMEL_EXPORT int fdatasync(int fd) { return sync_noted(fd); }
SEMEL_EXPORT int unlink(const char* path) noexcept {
  const auto held = disk().hold();
  const int result = raw::unlink(path);
  const SameErrno same;
  if (result == 0 && disk().holds(path)) disk().removed(path);
  return result;
}
SEMEL_EXPORT int rename(const char* from, const char* to) noexcept {
  const auto held = disk().hold();
  const int result = raw::rename(from, to);
  const SameErrno same;
  if (result == 0 && disk().holds(from)) disk().renamed(from, to);
  return result;
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
