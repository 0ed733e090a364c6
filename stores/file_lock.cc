#include "stores/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stores/open.h"

namespace semel {

FileLock::FileLock(const std::string& path) {
  std::error_code ignored;
  const auto real = std::filesystem::canonical(path, ignored);
  const std::string lock = (ignored ? path : real.string()) + ".lock";
  descriptor_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    throw StoreError("cannot open " + lock + ": " + std::generic_category().message(errno));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    ::close(descriptor_);
    throw StoreInUse(path +
                     " is in use by another process: a store file has one process; stop it, "
                     "or give this one a file of its own");
  }
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace semel
