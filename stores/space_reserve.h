#pragma once

#include <cstddef>
#include <string>

namespace semel {

/// Space on a store's disk that nothing else can take: a file of blocks that are really allocated.
/// Given up when the disk is full, so that claims which are open can still be completed.
///
/// @thread One at a time.
/// @source spec 9, "Space for completing without a body is reserved at the claim".
class SpaceReserve {
 public:
  /// @param path  Of the file. What a process before left there is given up.
  explicit SpaceReserve(std::string path);
  /// Gives everything back.
  ~SpaceReserve();
  SpaceReserve(const SpaceReserve&) = delete;
  SpaceReserve& operator=(const SpaceReserve&) = delete;

  /// False where the file system cannot allocate ahead: then nothing is ever reserved.
  [[nodiscard]] bool is_possible() const { return is_possible_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// True from giving it up until it has grown again; not before it first grew.
  [[nodiscard]] bool is_spent() const { return is_spent_; }
  /// @return true if it holds that many bytes now; otherwise it is as large as it was.
  [[nodiscard]] bool grow_to(std::size_t bytes);
  /// Gives all of it back. @return how much that was.
  std::size_t give_up();

 private:
  [[nodiscard]] bool open();

  const std::string path_;
  int descriptor_ = -1;
  std::size_t bytes_ = 0;
  bool is_spent_ = false;
  bool is_possible_ = true;
};

}  // namespace semel
