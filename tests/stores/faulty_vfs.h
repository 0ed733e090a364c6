#pragma once

#include <sqlite3.h>

#include <condition_variable>
#include <cstring>
#include <mutex>

namespace semel::testing {

/// A disk under SQLite that fails or stalls on demand: a layer over the system's own VFS, made the
/// default of this test program.
class FaultyDisk {
 public:
  enum class Mood : std::uint8_t { Well, WriteFails, SyncFails, Full, SyncStalls };

  static FaultyDisk& instance() {
    static FaultyDisk disk;
    return disk;
  }
  void set(Mood mood) {
    const std::lock_guard lock(mutex_);
    mood_ = mood;
    changed_.notify_all();
  }
  /// Waits until a sync stands still in SyncStalls.
  void await_stall() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stalled_ > 0; });
  }

 private:
  struct File {
    sqlite3_file base;
    sqlite3_file* real;  ///< Behind this struct in the same allocation.
  };

  FaultyDisk() {
    real_ = sqlite3_vfs_find(nullptr);
    vfs_ = *real_;
    vfs_.zName = "semel-faulty";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.xOpen = open;
    sqlite3_vfs_register(&vfs_, 1);
  }

  static sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real; }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    auto* ours = reinterpret_cast<File*>(file);
    ours->real = reinterpret_cast<sqlite3_file*>(ours + 1);
    sqlite3_vfs* vfs = instance().real_;
    const int code = vfs->xOpen(vfs, name, ours->real, flags, out);
    ours->base.pMethods = code == SQLITE_OK ? methods() : nullptr;
    return code;
  }

  int on_write() {
    const std::lock_guard lock(mutex_);
    if (mood_ == Mood::WriteFails) return SQLITE_IOERR_WRITE;
    return mood_ == Mood::Full ? SQLITE_FULL : SQLITE_OK;
  }
  int on_sync() {
    std::unique_lock lock(mutex_);
    if (mood_ == Mood::SyncFails) return SQLITE_IOERR_FSYNC;
    stalled_ += 1;
    changed_.notify_all();
    changed_.wait(lock, [this] { return mood_ != Mood::SyncStalls; });
    stalled_ -= 1;
    return SQLITE_OK;
  }

  static const sqlite3_io_methods* methods() {
    static const sqlite3_io_methods table = [] {
      sqlite3_io_methods m{};
      m.iVersion = 2;
      m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
      m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
        return real(f)->pMethods->xRead(real(f), to, n, at);
      };
      m.xWrite = [](sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
        const int code = instance().on_write();
        return code != SQLITE_OK ? code : real(f)->pMethods->xWrite(real(f), from, n, at);
      };
      m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
        return real(f)->pMethods->xTruncate(real(f), size);
      };
      m.xSync = [](sqlite3_file* f, int flags) {
        const int code = instance().on_sync();
        return code != SQLITE_OK ? code : real(f)->pMethods->xSync(real(f), flags);
      };
      m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
        return real(f)->pMethods->xFileSize(real(f), size);
      };
      m.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
      m.xUnlock = [](sqlite3_file* f, int level) {
        return real(f)->pMethods->xUnlock(real(f), level);
      };
      m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
        return real(f)->pMethods->xCheckReservedLock(real(f), out);
      };
      m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
        return real(f)->pMethods->xFileControl(real(f), op, arg);
      };
      m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
      m.xDeviceCharacteristics = [](sqlite3_file* f) {
        return real(f)->pMethods->xDeviceCharacteristics(real(f));
      };
      m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
        return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
      };
      m.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
        return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
      };
      m.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
      m.xShmUnmap = [](sqlite3_file* f, int remove) {
        return real(f)->pMethods->xShmUnmap(real(f), remove);
      };
      return m;
    }();
    return &table;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Mood mood_ = Mood::Well;
  int stalled_ = 0;
  sqlite3_vfs* real_ = nullptr;
  sqlite3_vfs vfs_{};
};

}  // namespace semel::testing
