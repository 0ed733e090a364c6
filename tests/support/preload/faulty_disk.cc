// Loaded with LD_PRELOAD into the program under test: lets the disk fail on demand. The file named
// by SEMEL_FAULTY_DISK says what fails, one `call ERRNO` a line (`fdatasync EIO`), or `call HANG`
// for a call that does not come back before the file says otherwise, or `call DELAY 3000` for one
// that succeeds so many milliseconds later; absent or empty: nothing does.
// `pwrite` stands for pwrite64 too. The file is read at every call, so a test may change its mind
// while the program runs.

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace {

/// What a call meets.
struct Fate {
  int error = 0;  ///< An errno, or 0.
  bool hangs = false;
  int delay_ms = 0;
};
constexpr useconds_t kLookAgainAfter = 5'000;

Fate fate_of(std::string_view word) {
  constexpr std::string_view kDelay = "DELAY ";
  if (word == "HANG") return {0, true, 0};
  if (!word.starts_with(kDelay)) return {word == "ENOSPC" ? ENOSPC : EIO, false, 0};
  Fate late;
  word.remove_prefix(kDelay.size());
  std::from_chars(word.data(), word.data() + word.size(), late.delay_ms);
  return late;
}

/// What the file says of `call` now.
Fate plan_of(std::string_view call) {
  const char* file = std::getenv("SEMEL_FAULTY_DISK");
  if (file == nullptr) return {};
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
    return fate_of(line.substr(space + 1));
  }
  return {};
}

/// The errno that `call` is to fail with, or 0; comes back once it need not wait any more.
int planned_error(std::string_view call) {
  Fate plan = plan_of(call);
  ::usleep(static_cast<useconds_t>(plan.delay_ms) * 1'000);
  while (plan.hangs) {
    ::usleep(kLookAgainAfter);
    plan = plan_of(call);
  }
  return plan.error;
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
