// A program for the tests of the power_loss library: carries out one step after another, each a
// call or two of the system, and ends. Each argument is a step, words separated by spaces:
//
//   write PATH OFFSET SIZE CHARACTER    makes the file where there is none
//   sync PATH                           of a file or a folder
//   truncate PATH SIZE
//   rename FROM TO
//   remove PATH

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <sstream>
#include <string>

namespace {

/// What `act` says of the opened file.
template <class Act>
bool with_file(const std::string& path, int flags, Act act) {
  const int fd = ::open(path.c_str(), flags, 0600);
  if (fd < 0) return false;
  const bool done = act(fd);
  ::close(fd);
  return done;
}

bool carry_out(const std::string& step) {
  std::istringstream words(step);
  std::string what;
  std::string path;
  words >> what >> path;
  long number = 0;
  if (what == "write") {
    std::size_t size = 0;
    char character = 0;
    words >> number >> size >> character;
    const std::string bytes(size, character);
    return with_file(path, O_RDWR | O_CREAT, [&](int fd) {
      return ::pwrite(fd, bytes.data(), size, number) == static_cast<ssize_t>(size);
    });
  }
  if (what == "sync") {
    return with_file(path, O_RDONLY, [](int fd) { return ::fsync(fd) == 0; });
  }
  if (what == "truncate") {
    words >> number;
    return with_file(path, O_RDWR, [&](int fd) { return ::ftruncate(fd, number) == 0; });
  }
  if (what == "rename") {
    std::string to;
    words >> to;
    return ::rename(path.c_str(), to.c_str()) == 0;
  }
  return what == "remove" && ::unlink(path.c_str()) == 0;
}

}  // namespace

int main(int count, char** steps) {
  for (int n = 1; n < count; ++n) {
    if (carry_out(steps[n])) continue;
    std::perror(steps[n]);
    return 1;
  }
  return 0;
}
