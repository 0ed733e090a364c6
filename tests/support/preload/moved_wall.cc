// Loaded with LD_PRELOAD into the program under test, Semel or the server of a store: its wall
// clock is as many nanoseconds ahead as the signed number says that the file named by
// SEMEL_MOVED_WALL begins with, in eight bytes of this machine's order; behind if that is negative.
// If the second number of the file is not zero the clock stands still at so many nanoseconds since
// 1970: where a MovedClock of the test stands, which has the same file (tests/stores/requests.h).
// The file is mapped once and read at every look at the clock, so a test may change its mind while
// the program runs. All other clocks are the system's.
//
// Bare system calls and no allocation: an allocator may look at the clock before it is ready to
// serve, and a server's does.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

using Number = std::atomic<std::int64_t>;
static_assert(Number::is_always_lock_free && sizeof(Number) == sizeof(std::int64_t));

/// The file. One that is shorter reads as if zeros followed.
struct Wall {
  Number ahead;
  Number standing;
};

/// @return Null where no file is named, or none is there.
const Wall* map_file() {
  const char* file = std::getenv("SEMEL_MOVED_WALL");
  if (file == nullptr) return nullptr;
  const long fd = ::syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* mapped = ::mmap(nullptr, sizeof(Wall), PROT_READ, MAP_SHARED, static_cast<int>(fd), 0);
  ::syscall(SYS_close, fd);
  return mapped == MAP_FAILED ? nullptr : static_cast<const Wall*>(mapped);
}

const Wall* wall() {
  // Two threads may both map it at the first look: a page is lost, and nothing else.
  static constinit std::atomic<const Wall*> mapped{nullptr};
  const Wall* wall = mapped.load(std::memory_order_acquire);
  if (wall == nullptr) {
    const int saved = errno;
    wall = map_file();
    errno = saved;
    mapped.store(wall, std::memory_order_release);
  }
  return wall;
}

std::int64_t moved(std::int64_t since_1970) {
  const Wall* const file = wall();
  if (file == nullptr) return since_1970;
  const std::int64_t standing = file->standing.load(std::memory_order_relaxed);
  return standing != 0 ? standing : since_1970 + file->ahead.load(std::memory_order_relaxed);
}

int look(clockid_t clock, timespec* at) {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, at));
  if (result != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return result;
  std::int64_t since_1970 = moved(at->tv_sec * kSecond + at->tv_nsec);
  if (since_1970 < 0) since_1970 = 0;
  at->tv_sec = since_1970 / kSecond;
  at->tv_nsec = since_1970 % kSecond;
  return 0;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* at) {
  return look(clock, at);
}

__attribute__((visibility("default"))) time_t time(time_t* into) {
  timespec at{};
  look(CLOCK_REALTIME, &at);
  if (into != nullptr) *into = at.tv_sec;
  return at.tv_sec;
}

__attribute__((visibility("default"))) int gettimeofday(timeval* into, void*) {
  timespec at{};
  const int result = look(CLOCK_REALTIME, &at);
  into->tv_sec = at.tv_sec;
  into->tv_usec = at.tv_nsec / 1000;
  return result;
}

}  // extern "C"
