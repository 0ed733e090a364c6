#pragma once

#include <string>

namespace semel {

/// One process per file: an exclusive lock of the operating system beside it, held while this lives
/// and gone with the process however it ends.
class FileLock {
 public:
  /// @param path  Of the file to guard, which exists; the lock is `<real path>.lock`.
  /// @throws StoreInUse if another process holds it, StoreError if there can be no lock.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace semel
