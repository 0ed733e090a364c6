#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "core/claim.h"
#include "stores/slab.h"

namespace semel {

/// Slots in the order of their fences. Fences rise, so a new one goes to the end; one that is taken
/// out leaves a hole, and holes are closed once they are the greater part.
class FenceOrder {
 public:
  /// Any order of insertion is right, a rising one cheap.
  void insert(Fence fence, Slot slot);
  /// @param slot  Was inserted with exactly this fence.
  void erase(Fence fence, Slot slot);

  /// Shows each slot behind `after`, in order, until `visit` says false.
  /// @param visit  `bool(Slot)`; it must not change the order.
  template <class Visit>
  void visit_after(Fence after, Visit visit) const {
    for (auto at = first_from(after.value); at != places_.end(); ++at) {
      if (at->fence == after.value || at->slot == kNoSlot) continue;
      if (!visit(at->slot)) return;
    }
  }

  [[nodiscard]] std::size_t size() const { return places_.size() - holes_; }

 private:
  struct Place {
    std::uint64_t fence;
    Slot slot;  ///< kNoSlot: a hole.
  };

  [[nodiscard]] std::deque<Place>::const_iterator first_from(std::uint64_t fence) const;
  void close_holes();

  std::deque<Place> places_;
  std::size_t holes_ = 0;
};

}  // namespace semel
