#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <optional>
#include <utility>

#include "io/task.h"

namespace semel {

/// A place where one coroutine waits until somebody on the same worker lets it go on.
/// @thread One worker's.
class Parked {
 public:
  Parked() = default;
  Parked(const Parked&) = delete;
  Parked& operator=(const Parked&) = delete;

  /// Nobody else may wait here.
  [[nodiscard]] Task<> wait() {
    auto park = [this](auto handler) { parked_.emplace(std::move(handler)); };
    return asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(park, kAwait);
  }
  [[nodiscard]] bool is_waiting() const { return parked_.has_value(); }

  /// It goes on inside this call. No effect where nobody waits.
  void resume() {
    if (auto handler = take()) std::move (*handler)();
  }
  /// It goes on after everything that is ready on this worker.
  void resume_later(const Executor& executor) {
    if (auto handler = take()) asio::post(executor, *std::move(handler));
  }
  /// It never goes on: what it holds is let go of, this place too where it is part of that.
  void abandon() { take(); }

 private:
  using Handler = asio::async_result<asio::use_awaitable_t<Executor>, void()>::handler_type;
  std::optional<Handler> take() { return std::exchange(parked_, std::nullopt); }

  std::optional<Handler> parked_;
};

}  // namespace semel
