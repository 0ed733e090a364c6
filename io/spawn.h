#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <exception>
#include <utility>

#include "io/task.h"

namespace semel {

/// A timer of the one executor.
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

/// Starts a coroutine that nobody waits for. What it throws ends the worker: it is a broken
/// program.
inline void spawn(const Executor& executor, Task<> task) {
  asio::co_spawn(executor, std::move(task), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

}  // namespace semel
