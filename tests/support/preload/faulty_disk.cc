// Loaded with LD_PRELOAD into the program under test: lets the disk fail on demand. The file named
// by SEMEL_FAULTY_DISK says what fails, one `call ERRNO` a line (`fdatasync EIO`), or `call HANG`
// for a call that does not come back before the file says otherwise; absent or empty: nothing does.
// `pwrite` stands for pwrite64 too. The file is read at every call, so a test may change its mind
// while the program runs.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kHang = -1;
constexpr useconds_t kLookAgainAfter = 5'000;

/// What the file says of `call` now: an errno to fail with, `kHang`, or 0.
int plan_of(std::string_view call) {
  const char* file = std::getenv("SEMEL_FAULTY_DISK");
  if (file == nullptr) return 0;
  const int saved = errno;
  const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
  std::array<char, 256> bytes{};
  const ssize_t size = fd < 0 ? 0 : ::read(fd, bytes.data(), bytes.size());
  if (fd >= 0) ::close(fd);
  errno = saved;
  std::string_view plan(bytes.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  while (!plan.empty()) {
    const std::string_view line = plan.substr(0, plan.find('\n'));
    plan.remove_prefix(line.size() == plan.size() ? line.size() : line.size() + 1);
    const std::size_t space = line.find(' ');
    if (line.substr(0, space) != call || space == std::string_view::npos) continue;
    const std::string_view fate = line.substr(space + 1);
    if (fate == "HANG") return kHang;
    return fate == "ENOSPC" ? ENOSPC : EIO;
  }
  return 0;
}

/// The errno that `call` is to fail with, or 0; comes back once it need not hang any more.
int planned_error(std::string_view call) {
  for (;;) {
    const int plan = plan_of(call);
    if (plan != kHang) return plan;
    ::usleep(kLookAgainAfter);
  }
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Sync = int (*)(int);
using WriteAt = ssize_t (*)(int, const void*, size_t, off_t);

int sync_or_fail(const char* name, int fd) {
  if (const int error = planned_error(name); error != 0) {
    errno = error;
    return -1;
  }
  return next<Sync>(name)(fd);
}

ssize_t write_or_fail(const char* name, int fd, const void* bytes, size_t size, off_t at) {
  if (const int error = planned_error("pwrite"); error != 0) {
    errno = error;
    return -1;
  }
  return next<WriteAt>(name)(fd, bytes, size, at);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int fdatasync(int fd) {
  return sync_or_fail("fdatasync", fd);
}
__attribute__((visibility("default"))) int fsync(int fd) { return sync_or_fail("fsync", fd); }
__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void* bytes, size_t size,
                                                      off_t at) {
  return write_or_fail("pwrite", fd, bytes, size, at);
}
__attribute__((visibility("default"))) ssize_t pwrite64(int fd, const void* bytes, size_t size,
                                                        off_t at) {
  return write_or_fail("pwrite64", fd, bytes, size, at);
}

}  // extern "C"
