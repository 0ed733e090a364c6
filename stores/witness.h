#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/claim.h"
#include "core/result.h"

namespace semel {

/// What a process notes of its store, outside of it: an older copy in the store's place lacks it.
struct WitnessNote {
  std::string store_id;
  Fence fence;  ///< The highest that was durable then.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::string
      boot_id;  ///< Of the boot it was written in: numbers of devices may differ in the next.
  bool suspect = false;  ///< The store was found to lack what this knows, and nobody has said yes.
  bool operator==(const WitnessNote&) const = default;
};

/// `store 5e…, fence 12, device 2049, inode 77`.
[[nodiscard]] std::string in_words(const WitnessNote& note);

/// @return Why a store that is as `found` may lack records of the one that was `known`, as a
///         clause; empty if there is no sign of it.
[[nodiscard]] std::string loss_between(const WitnessNote& known, const WitnessNote& found);

/// The note as a file. Replaced whole, so that a reader finds the old one or the new one.
/// @source docs/record-format.md, "The witness".
class WitnessFile {
 public:
  /// @param folder  Made where it is missing, once something is to be written.
  explicit WitnessFile(const std::string& folder);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// @return Absent: there is no such file.
  /// @faults RecordCorrupt: there is one and it cannot be read: what it knew is unknown.
  [[nodiscard]] Result<std::optional<WitnessNote>> read() const;
  /// @return Empty: it is on the disk. Otherwise what the system said; the old note stands.
  [[nodiscard]] std::string write(const WitnessNote& note) const;

 private:
  std::string folder_;
  std::string path_;
};

}  // namespace semel
