#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/semel_process.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {

/// The library that lets the power go (support/preload), and the file that says when.
class PowerLoss {
 public:
  /// Whether syncs reach the disk, for the store and its witness, or, for the store alone, come
  /// back and have done nothing.
  enum class Syncs : std::uint8_t { Reach, DoNothing };

  PowerLoss() { std::filesystem::create_directory(folder_.file("disk")); }

  [[nodiscard]] std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" SEMEL_BINARY_DIR "/libsemel_power_loss.so",
            "SEMEL_POWER_LOSS=" + folder_.file("plan")};
  }
  /// When power goes.
  struct Moment {
    std::uint64_t at = 0;    ///< With that change or sync of the files, counted from 1; 0: never.
    std::uint64_t seed = 0;  ///< Of what survives of what was not synced.
    /// Whether any counts, or those of the store's file alone, not of its log: in a checkpoint.
    enum class Of : std::uint8_t { Any, Checkpoint } of = Of::Any;
  };
  /// From its next start on.
  void plan(const SemelProcess& semel, const Moment& moment, Syncs syncs = Syncs::Reach) const {
    std::string text = "disk " + folder_.file("disk") + "\nfile " + semel.store_file() + "\ncut " +
                       std::to_string(moment.at) + "\nseed " + std::to_string(moment.seed) + "\n";
    if (moment.of == Moment::Of::Checkpoint) text += "of semel.db\n";
    text += syncs == Syncs::Reach ? "file " + witness_of(semel) + "\n" : "lies\n";
    write_file(folder_.file("plan"), text);
  }
  /// Whether power went while the store's file itself, not its log alone, had unsynced pages: in
  /// the middle of a checkpoint. To be asked before the next start.
  [[nodiscard]] bool went_in_a_checkpoint() const {
    return ("\n" + read_file(folder_.file("disk/#lost"))).find("\nsemel.db\n") != std::string::npos;
  }
  [[nodiscard]] static std::string witness_of(const SemelProcess& semel) {
    return std::filesystem::path(semel.config_file()).parent_path() / "state" / "witness";
  }

 private:
  TempFolder folder_;
};

}  // namespace semel::testing
