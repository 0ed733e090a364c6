#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace semel {

/// Small pieces of memory that live long and in great number: cut from large blocks one behind the
/// other, without a head of their own. What was given back is taken again first, for pieces of its
/// size. Memory grows to the most that ever lived at once of each size.
///
/// The allocator would ask the kernel for every page of such a heap, with a system call each.
/// @thread Any.
class PiecePool {
 public:
  static constexpr std::size_t kPieceMax = 8192;

  PiecePool() = default;
  PiecePool(const PiecePool&) = delete;
  PiecePool& operator=(const PiecePool&) = delete;

  /// @param bytes  1 to kPieceMax. @return Aligned as any fundamental type.
  [[nodiscard]] void* take(std::size_t bytes);
  /// @param bytes  As it was taken.
  void give_back(void* piece, std::size_t bytes) noexcept;

 private:
  /// Sizes are rounded up to a multiple of this: less than an allocator's own overhead.
  static constexpr std::size_t kGrain = 32;
  struct Free {
    Free* next;
  };
  struct Freeing {
    void operator()(void* block) const;
  };
  using Block = std::unique_ptr<void, Freeing>;

  void add_block();

  std::mutex mutex_;
  std::array<Free*, kPieceMax / kGrain> free_{};  ///< By size.
  std::vector<Block> blocks_;
  std::byte* unused_ = nullptr;  ///< The rest of the last block.
  std::size_t unused_bytes_ = 0;
  std::size_t block_bytes_ = 0;  ///< Of the last block.
};

}  // namespace semel
