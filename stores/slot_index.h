#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stores/large_pages.h"
#include "stores/slab.h"

namespace semel {

/// Finds slots by 32 bits of a hash: eight bytes a slot in one flat table, open addressing, grown
/// by doubling. Which of the slots under one hash is meant, the caller says.
class SlotIndex {
 public:
  /// @param hash  Spread evenly in its low bits.
  /// @param slot  Is not in the index yet.
  void insert(std::uint32_t hash, Slot slot);
  /// @param slot  Was inserted under exactly this hash.
  void erase(std::uint32_t hash, Slot slot);

  /// @param matches  `bool(Slot)`: whether this is the one; asked only of slots under this hash.
  /// @return kNoSlot if there is none.
  template <class Matches>
  [[nodiscard]] Slot find(std::uint32_t hash, Matches matches) const {
    if (buckets_.empty()) return kNoSlot;
    for (std::size_t at = home(hash); buckets_[at].slot != kNoSlot; at = next(at)) {
      if (buckets_[at].hash == hash && matches(buckets_[at].slot)) return buckets_[at].slot;
    }
    return kNoSlot;
  }

  /// Fetches the place of a hash that is soon inserted or sought: it is in no cache, mostly.
  void expect(std::uint32_t hash) const {
    if (!buckets_.empty()) __builtin_prefetch(&buckets_[home(hash)]);
  }

  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Bucket {
    std::uint32_t hash = 0;
    Slot slot = kNoSlot;
  };

  [[nodiscard]] std::size_t home(std::uint32_t hash) const { return hash & (buckets_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (buckets_.size() - 1); }
  void place(Bucket bucket);
  void grow();

  using Buckets = std::vector<Bucket, LargePages<Bucket>>;

  Buckets buckets_;  ///< A power of two of them, or none; never full.
  std::size_t size_ = 0;
};

}  // namespace semel
