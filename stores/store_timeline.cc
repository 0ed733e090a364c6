#include "stores/store_timeline.h"

#include <algorithm>
#include <fstream>
#include <utility>

namespace semel {

StoreTimeline::StoreTimeline(const TimeAnchor& last, StoreClock clock, std::string boot_id)
    : clock_(std::move(clock)), boot_id_(std::move(boot_id)), boot_start_(clock_.boot()) {
  if (last.boot_id == boot_id_) {
    store_start_ = last.store + std::max(boot_start_ - last.boot, std::chrono::nanoseconds(0));
  } else {
    store_start_ = std::max(
        last.store, std::chrono::duration_cast<StoreTime>(clock_.wall().time_since_epoch()));
  }
}

Now StoreTimeline::now() const {
  const auto passed = std::max(clock_.boot() - boot_start_, std::chrono::nanoseconds(0));
  return {store_start_ + passed, clock_.wall()};
}

TimeAnchor StoreTimeline::anchor(const Now& at) const {
  return {boot_id_, boot_start_ + (at.time - store_start_), at.time};
}

std::string current_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

}  // namespace semel
