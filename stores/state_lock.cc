#include "stores/state_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "stores/open.h"
#include "stores/private_folder.h"

namespace semel {

StateLock::StateLock(const std::string& folder) {
  if (folder.empty() || !make_private_folder(folder)) return;
  const std::string lock = (std::filesystem::path(folder) / "lock").string();
  descriptor_ = ::open(lock.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    const std::string reason = std::generic_category().message(errno);
    std::error_code ignored;
    // Whoever cannot make it cannot write a witness either.
    if (!std::filesystem::exists(lock, ignored)) return;
    throw StoreError("cannot open " + lock + ": " + reason +
                     ": give each process a state_dir of its own");
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  ::close(descriptor_);
  if (error == EWOULDBLOCK) {
    throw FolderInUse("state_dir " + folder +
                      " is in use by another process: give each process a folder of its own");
  }
  throw StoreError("cannot lock " + lock + ": " + std::generic_category().message(error));
}

StateLock::~StateLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace semel
