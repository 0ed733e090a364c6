#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace semel {

/// The latest fail-over that this process has heard of from its sentinels. One that was cut off
/// names the primary of before, and is not followed back to it, also where it alone answers.
/// @thread Any.
class SentinelEpoch {
 public:
  /// Told of each change, one after the other.
  using Note = std::function<void(std::uint64_t epoch)>;

  /// @param latest  What the process before had heard of; 0: nothing.
  /// @param note    Empty: nobody has to know after a restart.
  explicit SentinelEpoch(std::uint64_t latest = 0, Note note = {})
      : latest_(latest), note_(std::move(note)) {}
  SentinelEpoch(const SentinelEpoch&) = delete;
  SentinelEpoch& operator=(const SentinelEpoch&) = delete;

  /// Goes where a sentinel of that configuration epoch says, unless a later one is known. No other
  /// caller goes anywhere meanwhile.
  /// @return false: it is an older one, and nothing was done.
  [[nodiscard]] bool follow(std::uint64_t epoch, const std::function<void()>& go);
  /// An operator's word: sentinels that were made anew count from nothing, and the next answer
  /// counts whatever its epoch.
  /// @return false: no older one was refused since the last that was followed. Nothing was done.
  [[nodiscard]] bool forget();

  [[nodiscard]] std::uint64_t latest() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t latest_;
  bool is_behind_ = false;  ///< The last answer was an older one.
  const Note note_;
};

}  // namespace semel
