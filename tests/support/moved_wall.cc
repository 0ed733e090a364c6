#include "tests/support/moved_wall.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kLibrary[] = "libsemel_moved_wall.so";
constexpr char kFile[] = "ahead";

}  // namespace

MovedWall::MovedWall() {
  put_library();
  write_file(folder_.file(kFile), std::string(2 * sizeof(std::int64_t), '\0'));
  map();
}

MovedWall::MovedWall(const std::string& clock_file) {
  put_library();
  // Under a name that the server's user may walk to.
  fs::create_hard_link(clock_file, folder_.path() / kFile);
  map();
}

void MovedWall::put_library() {
  // A copy: another user may not be let into the folder where it was built.
  const fs::path built = fs::path(SEMEL_BINARY_DIR) / kLibrary;
  if (!fs::exists(built)) throw std::runtime_error(built.string() + " has not been built");
  fs::copy_file(built, folder_.path() / kLibrary);
  fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::others_read |
                                      fs::perms::others_exec | fs::perms::group_read |
                                      fs::perms::group_exec);
}

void MovedWall::map() {
  const std::string file = folder_.file(kFile);
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read |
                            fs::perms::others_read);
  const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
  void* mapped = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  const int error = errno;
  ::close(fd);
  if (mapped == MAP_FAILED) throw std::system_error(error, std::generic_category(), file);
  ahead_ = static_cast<std::atomic<std::int64_t>*>(mapped);
}

MovedWall::~MovedWall() { ::munmap(ahead_, sizeof(std::int64_t)); }

std::vector<std::string> MovedWall::environment() const {
  return {"LD_PRELOAD=" + folder_.file(kLibrary), "SEMEL_MOVED_WALL=" + folder_.file(kFile)};
}

}  // namespace semel::testing
