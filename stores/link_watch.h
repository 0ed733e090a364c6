#pragma once

#include <memory>

#include "io/deadlines.h"
#include "io/task.h"

namespace semel {

/// The deadlines of one worker's links, swept only while somebody may be waiting: a link that
/// nobody asks wakes nobody.
/// @thread One worker's.
class LinkWatch : public std::enable_shared_from_this<LinkWatch> {
 public:
  static constexpr std::chrono::milliseconds kInterval{20};

  explicit LinkWatch(Executor executor) : executor_(std::move(executor)) {}

  [[nodiscard]] Deadlines& deadlines() { return deadlines_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  /// Arms the entry, and sees to it that it fires.
  void arm(Deadlines::Entry& entry, Deadlines::Clock::time_point at);

 private:
  static Task<> keep_sweeping(std::shared_ptr<LinkWatch> self);

  const Executor executor_;
  Deadlines deadlines_;
  bool sweeping_ = false;
};

}  // namespace semel
