#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "stores/witness.h"

namespace semel {

/// Whether a store still has what its process knew of it: compared when it is opened, and noted
/// from then on, at most once a second.
///
/// A store that lacks something is suspect until an operator acknowledges it. That is written into
/// the witness at once, which otherwise stays as it was, so that no restart forgets it.
///
/// @thread Any, but for construction and destruction.
/// @source spec 9, "Loss detection".
class LossWatch {
 public:
  /// @param folder  Of the witness. Empty: none is kept, and nothing is suspect after a restart.
  /// @param found   The store as it is on the disk.
  /// @param doubt   What the store itself says against it, as a clause; empty: nothing.
  /// @throws StoreError if it is suspect and the witness cannot be marked so.
  LossWatch(const std::string& folder, const WitnessNote& found, const std::string& doubt);
  /// Notes what is still to be noted.
  ~LossWatch();
  LossWatch(const LossWatch&) = delete;
  LossWatch& operator=(const LossWatch&) = delete;

  [[nodiscard]] bool is_suspect() const;
  /// What an operator should read at the start, as a sentence; empty: nothing.
  [[nodiscard]] std::string remark() const;
  /// What the witness knew when the store was opened; a suspect store only.
  [[nodiscard]] const WitnessNote& known() const { return known_; }

  /// @param durable  The highest fence on the disk now, never one that is still to be written.
  void note(Fence durable);

  /// The store counts as whole from now on, durably.
  /// @return true if it was suspect.
  /// @faults StoreUnreachable: the witness cannot be written; it stays suspect.
  [[nodiscard]] Result<bool> acknowledge(Fence durable);

 private:
  void compare(const std::string& doubt);
  void suspect_for(const std::string& reason);
  void keep_noting();

  const bool has_witness_;
  const WitnessFile file_;
  WitnessNote known_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  WitnessNote store_;    ///< As it is on the disk.
  WitnessNote written_;  ///< What the witness says.
  std::string remark_;
  bool suspect_ = false;
  bool ending_ = false;
  bool is_idle_ = false;  ///< The writer waits for something to note.
  std::thread writer_;    ///< A slow disk holds up nobody.
};

}  // namespace semel
