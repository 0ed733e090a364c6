#include "tests/sim/timeline.h"

#include <algorithm>
#include <utility>

namespace semel::sim {

void Timeline::at(Time when, std::function<void()> event) {
  heap_.push_back({std::max(when, now_), planned_++, std::move(event)});
  std::push_heap(heap_.begin(), heap_.end(), is_later);
}

bool Timeline::step(Time end) {
  if (heap_.empty() || heap_.front().when > end) return false;
  std::pop_heap(heap_.begin(), heap_.end(), is_later);
  const Event next = std::move(heap_.back());
  heap_.pop_back();
  now_ = std::max(now_, next.when);
  next.happen();
  return true;
}

void Timeline::clear() { heap_.clear(); }

}  // namespace semel::sim
