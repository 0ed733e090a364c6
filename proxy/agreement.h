#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

namespace semel::proxy {

/// Whether the routes of an edition are still those that a shared store remembers. One process
/// looks once a second; what it saw holds for a while and no longer, so that no replica goes on
/// under a route of before because it could not look.
/// @thread Any may ask; one tells.
/// @source spec 4, "a replica whose digest differs from the store's answers 503 on that route".
class Agreement {
 public:
  using Clock = std::chrono::steady_clock;
  /// How long what was seen holds: from the question on. A look may take the store's deadline of a
  /// second, and so may the next one, a second later.
  static constexpr std::chrono::seconds kHolds{3};

  enum class Sharing : std::uint8_t { Alone, WithOthers };

  /// A store that nobody shares agrees for good. Otherwise: the routes were adopted just now.
  Agreement(std::size_t routes, Sharing sharing);

  /// @param route  Its place in the edition.
  [[nodiscard]] bool is_changed(std::size_t route) const {
    return changed_[route].load(std::memory_order_relaxed);
  }
  /// False: nobody has been able to look for too long; what holds on a route is unknown.
  [[nodiscard]] bool is_known(Clock::time_point now) const {
    return now.time_since_epoch().count() < known_until_.load(std::memory_order_relaxed);
  }

  /// @param changed  Places of the routes that differ, rising.
  /// @param asked    When the store was asked for what it remembers.
  /// @return false: before these routes were adopted, so that it says nothing of them.
  bool tell(std::span<const std::size_t> changed, Clock::time_point asked);

 private:
  const Clock::time_point adopted_ = Clock::now();
  const std::size_t routes_;
  const std::unique_ptr<std::atomic<bool>[]> changed_;
  std::atomic<Clock::rep> known_until_;
};

}  // namespace semel::proxy
