// Loaded with LD_PRELOAD into the program under test: its wall clock is as many seconds ahead as
// the file named by SEMEL_MOVED_WALL says, behind if that is negative; absent or empty: none. The
// file is read at every look at the clock, so a test may change its mind while the program runs.
// All other clocks are the system's.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace {

time_t seconds_ahead() {
  const char* file = std::getenv("SEMEL_MOVED_WALL");
  if (file == nullptr) return 0;
  const int saved = errno;
  const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
  std::array<char, 32> text{};
  if (fd >= 0) {
    if (::read(fd, text.data(), text.size() - 1) < 0) text[0] = '\0';
    ::close(fd);
  }
  errno = saved;
  return static_cast<time_t>(std::strtoll(text.data(), nullptr, 10));
}

using Look = int (*)(clockid_t, timespec*);

int look(clockid_t clock, timespec* at) {
  static const Look next = reinterpret_cast<Look>(::dlsym(RTLD_NEXT, "clock_gettime"));
  return next(clock, at);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* at) {
  const int result = look(clock, at);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    at->tv_sec += seconds_ahead();
  }
  return result;
}

__attribute__((visibility("default"))) time_t time(time_t* into) {
  timespec at{};
  clock_gettime(CLOCK_REALTIME, &at);
  if (into != nullptr) *into = at.tv_sec;
  return at.tv_sec;
}

__attribute__((visibility("default"))) int gettimeofday(timeval* into, void*) {
  timespec at{};
  const int result = clock_gettime(CLOCK_REALTIME, &at);
  into->tv_sec = at.tv_sec;
  into->tv_usec = at.tv_nsec / 1000;
  return result;
}

}  // extern "C"
