#pragma once

#include <string>

namespace semel {

/// One process per `state_dir`: what one notes there of its store would be wrong of another's. An
/// exclusive lock of the operating system, gone with the process however it ends.
class StateLock {
 public:
  /// @param folder  Made where it is missing; the lock is `<folder>/lock`. Empty: there is nothing
  ///                to lock, as where nothing can be written to the folder.
  /// @throws FolderInUse if another process holds it.
  /// @throws StoreError if that cannot be told.
  explicit StateLock(const std::string& folder);
  ~StateLock();
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace semel
