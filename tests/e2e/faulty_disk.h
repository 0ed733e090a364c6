#pragma once

#include <string>
#include <vector>

#include "tests/support/deadline.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {

/// The library that lets calls of the disk fail (support/preload), and the file that says which.
class FaultyDisk {
 public:
  [[nodiscard]] std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" SEMEL_BINARY_DIR "/libsemel_faulty_disk.so",
            "SEMEL_FAULTY_DISK=" + folder_.file("plan")};
  }
  void fail(const std::string& plan) const { write_file(folder_.file("plan"), plan); }
  /// Nothing is synced before `heal`, and nothing fails.
  void hang() const { fail("fdatasync HANG\nfsync HANG\n"); }
  /// Everything is synced, so much later.
  void delay(milliseconds delay) const {
    const std::string late = " DELAY " + std::to_string(delay.count()) + "\n";
    fail("fdatasync" + late + "fsync" + late);
  }
  void heal() const { fail(""); }

 private:
  TempFolder folder_;
};

}  // namespace semel::testing
