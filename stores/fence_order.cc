#include "stores/fence_order.h"

#include <algorithm>

#include "core/check.h"

namespace semel {

void FenceOrder::insert(Fence fence, Slot slot) {
  if (places_.empty() || places_.back().fence < fence.value) {
    places_.push_back({fence.value, slot});
  } else {
    places_.insert(first_from(fence.value), {fence.value, slot});
  }
}

void FenceOrder::erase(Fence fence, Slot slot) {
  auto at = static_cast<std::size_t>(first_from(fence.value) - places_.begin());
  while (at < places_.size() && places_[at].slot != slot) at += 1;
  SEMEL_CHECK(at < places_.size() && places_[at].fence == fence.value);
  places_[at].slot = kNoSlot;
  holes_ += 1;
  close_holes();
}

std::deque<FenceOrder::Place>::const_iterator FenceOrder::first_from(std::uint64_t fence) const {
  return std::lower_bound(
      places_.begin(), places_.end(), fence,
      [](const Place& place, std::uint64_t sought) { return place.fence < sought; });
}

void FenceOrder::close_holes() {
  while (!places_.empty() && places_.front().slot == kNoSlot) {
    places_.pop_front();
    holes_ -= 1;
  }
  while (!places_.empty() && places_.back().slot == kNoSlot) {
    places_.pop_back();
    holes_ -= 1;
  }
  if (holes_ * 2 <= places_.size()) return;
  std::erase_if(places_, [](const Place& place) { return place.slot == kNoSlot; });
  holes_ = 0;
}

}  // namespace semel
