#include "stores/slot_index.h"

#include <utility>

#include "core/check.h"

namespace semel {
namespace {

constexpr std::size_t kBucketsAtFirst = 64;

/// A table that is fuller than seven eighths makes searches long.
constexpr bool crowded(std::size_t size, std::size_t buckets) { return size * 8 >= buckets * 7; }

}  // namespace

void SlotIndex::insert(std::uint32_t hash, Slot slot) {
  if (crowded(size_ + 1, buckets_.size())) grow();
  place({hash, slot});
  size_ += 1;
}

void SlotIndex::erase(std::uint32_t hash, Slot slot) {
  SEMEL_CHECK(!buckets_.empty());
  std::size_t hole = home(hash);
  while (buckets_[hole].slot != slot) {
    SEMEL_CHECK(buckets_[hole].slot != kNoSlot);
    hole = next(hole);
  }
  // Whatever follows and could not have its place moves up, so that no search ends too early and no
  // tombstones gather.
  for (std::size_t at = next(hole); buckets_[at].slot != kNoSlot; at = next(at)) {
    const std::size_t mask = buckets_.size() - 1;
    const std::size_t from_home = (at - home(buckets_[at].hash)) & mask;
    if (from_home >= ((at - hole) & mask)) buckets_[std::exchange(hole, at)] = buckets_[at];
  }
  buckets_[hole] = Bucket{};
  size_ -= 1;
}

void SlotIndex::place(Bucket bucket) {
  std::size_t at = home(bucket.hash);
  while (buckets_[at].slot != kNoSlot) at = next(at);
  buckets_[at] = bucket;
}

void SlotIndex::grow() {
  const std::size_t size = buckets_.empty() ? kBucketsAtFirst : buckets_.size() * 2;
  const Buckets before = std::exchange(buckets_, Buckets(size));
  for (const Bucket& bucket : before) {
    if (bucket.slot != kNoSlot) place(bucket);
  }
}

}  // namespace semel
