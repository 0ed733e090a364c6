#include "stores/space_reserve.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace semel {

SpaceReserve::SpaceReserve(std::string path) : path_(std::move(path)) {
  if (open()) static_cast<void>(::ftruncate(descriptor_, 0));
}

SpaceReserve::~SpaceReserve() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

bool SpaceReserve::open() {
  if (descriptor_ < 0) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  }
  return descriptor_ >= 0;
}

bool SpaceReserve::grow_to(std::size_t bytes) {
  if (bytes <= bytes_) return true;
  if (!is_possible_ || !open()) return false;
  int result = 0;
  do {
    // Not posix_fallocate(): where the file system has no such call it would write zeros instead.
    result = ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) {
    bytes_ = bytes;
    is_spent_ = false;
    return true;
  }
  is_possible_ = errno != EOPNOTSUPP && errno != ENOSYS;
  // A part of it may have been had.
  static_cast<void>(::ftruncate(descriptor_, static_cast<off_t>(bytes_)));
  return false;
}

std::size_t SpaceReserve::give_up() {
  const std::size_t given = std::exchange(bytes_, 0);
  if (given == 0) return 0;
  is_spent_ = true;
  static_cast<void>(::ftruncate(descriptor_, 0));
  return given;
}

}  // namespace semel
