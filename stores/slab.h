#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace semel {

/// The place of one thing in a Slab: half the size of a pointer.
using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = 0xFFFFFFFF;

/// Things of one kind in large pieces of memory: no allocation for each, none ever moves, and what
/// was given back is taken again first. Memory grows to the most that ever lived at once.
///
/// @owns  A reference into it stays valid until its slot is given back.
template <class T>
class Slab {
 public:
  /// @return a slot that holds a `T{}`.
  [[nodiscard]] Slot take() {
    living_ += 1;
    if (!free_.empty()) {
      const Slot slot = free_.back();
      free_.pop_back();
      return slot;
    }
    if (used_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<T[]>(kChunk));
    return static_cast<Slot>(used_++);
  }
  /// @param slot  One that take() gave and nobody has given back.
  void give_back(Slot slot) {
    (*this)[slot] = T{};
    free_.push_back(slot);
    living_ -= 1;
  }

  [[nodiscard]] T& operator[](Slot slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  [[nodiscard]] const T& operator[](Slot slot) const {
    return chunks_[slot / kChunk][slot % kChunk];
  }
  /// How many are taken.
  [[nodiscard]] std::size_t size() const { return living_; }

 private:
  /// Large enough that malloc asks the kernel for each piece instead of growing an arena for it.
  static constexpr std::size_t kChunk = 1024;

  std::vector<std::unique_ptr<T[]>> chunks_;
  std::vector<Slot> free_;
  std::size_t used_ = 0;  ///< Slots below this one have been taken at least once.
  std::size_t living_ = 0;
};

}  // namespace semel
