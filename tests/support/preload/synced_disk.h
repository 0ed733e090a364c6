#pragma once

// A folder of files as the disk has them: the model of power_loss.cc.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/preload/synced_image.h"

namespace semel::power_loss {

/// What is to happen, as the test wrote it.
struct Plan {
  std::string disk;                ///< The folder of the images. Empty: nothing is to happen.
  std::vector<std::string> files;  ///< Beginnings of the paths that the model is about.
  std::uint64_t cut_at = 0;  ///< Power goes with this change or sync, counted from 1; 0: never.
  std::string cut_of;        ///< Only those of the file of that name count; empty: all do.
  std::uint64_t seed = 0;    ///< Of what survives by luck.
  bool lies = false;         ///< Syncs come back at once and do nothing.

  /// Lines `disk FOLDER`, `file PREFIX`, `cut N`, `of NAME`, `seed N`, `lies`.
  [[nodiscard]] static Plan read(const char* path);
};

/// The files whose paths begin as the plan says, and their names.
///
/// A name that was made, moved or removed is so on the disk once its folder is synced. Of those
/// that are not, the first few are, in their order, as in the journal of a file system: how many is
/// luck.
///
/// @thread Any; calls that change a file are to be made within `hold()`.
class SyncedDisk {
 public:
  explicit SyncedDisk(Plan plan);

  [[nodiscard]] std::unique_lock<std::mutex> hold() { return std::unique_lock(mutex_); }
  [[nodiscard]] bool holds(const std::string& path) const;

  /// A file was opened that `existed` or was made now, cut to nothing or not.
  enum class Opening : std::uint8_t { Found, Made, Emptied };
  void opened(const std::string& path, int fd, Opening opening);
  void closed(int fd);
  void wrote(int fd, std::uint64_t at, std::size_t size);
  void shrank(int fd, std::uint64_t size);
  void removed(const std::string& path);
  void renamed(const std::string& from, const std::string& to);
  /// Whether it is a file, or a folder of files, of this model.
  [[nodiscard]] bool has(int fd) const;
  void synced(int fd);

 private:
  using Image = std::shared_ptr<SyncedImage>;
  struct Change {
    std::string from;  ///< Empty: made.
    std::string to;    ///< Empty: removed.
    Image image;
  };

  void adopt();
  [[nodiscard]] std::string on_disk(const std::string& path) const;
  [[nodiscard]] Image fresh_image();
  /// Makes the oldest `count` changes of names durable.
  void carry_out(std::size_t count);
  /// One more change or sync is under way.
  void step(const std::string& path);
  [[noreturn]] void lose_power();
  void put_back() const;

  const Plan plan_;
  std::mutex mutex_;
  std::uint64_t steps_ = 0;
  std::uint64_t fresh_ = 0;
  std::map<std::string, Image> files_;  ///< By path, as the process sees them.
  std::map<int, Image> open_;
  std::map<int, std::string> folders_;  ///< Opened to be synced.
  std::vector<Change> unsynced_;        ///< Names, oldest first.
};

}  // namespace semel::power_loss
