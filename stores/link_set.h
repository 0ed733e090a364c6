#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "io/task.h"

namespace semel {

/// One link to the server for each worker that calls, made when it calls first.
/// @thread Any.
template <class Link>
class LinkSet {
 public:
  /// @param make  Called once for each executor's context: `std::shared_ptr<Link>(Executor,
  /// index)`.
  template <class Make>
  [[nodiscard]] std::shared_ptr<Link> of(const Executor& executor, Make make) {
    const std::lock_guard lock(mutex_);
    for (const auto& [context, link] : links_) {
      if (context == &executor.context()) return link;
    }
    auto link = make(executor, links_.size());
    links_.emplace_back(&executor.context(), link);
    return link;
  }
  /// Of all workers, in the order of their first calls.
  [[nodiscard]] std::vector<std::shared_ptr<Link>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Link>> links;
    for (const auto& [context, link] : links_) links.push_back(link);
    return links;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<asio::io_context*, std::shared_ptr<Link>>> links_;
};

}  // namespace semel
