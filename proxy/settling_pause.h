#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/fault.h"
#include "io/random.h"

namespace semel::proxy {

/// Whether a store that answered with this may do better later. A broken one stays broken until a
/// restart, which settles what it finds.
[[nodiscard]] inline bool may_heal(Fault fault) {
  return fault == Fault::StoreTimeout || fault == Fault::StoreFull ||
         fault == Fault::StoreUnreachable;
}

/// Pauses between writes that a store would not take: twice as long each time, up to two seconds,
/// and each of another length, so that those who lost one store at one moment do not come back at
/// one.
class SettlingPause {
 public:
  static constexpr std::chrono::milliseconds kFirst{100};
  static constexpr std::chrono::milliseconds kLongest{2'000};

  /// Between the half of it and all of it.
  [[nodiscard]] std::chrono::milliseconds next(RandomBits& random) {
    const auto half = length_ / 2;
    length_ = std::min(length_ * 2, kLongest);
    const auto more = random.number() % (static_cast<std::uint64_t>(half.count()) + 1);
    return half + std::chrono::milliseconds(more);
  }
  void begin_anew() { length_ = kFirst; }

 private:
  std::chrono::milliseconds length_ = kFirst;
};

}  // namespace semel::proxy
