#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <optional>
#include <utility>

#include "io/task.h"

namespace semel::testing {

template <class T>
Task<> keep(Task<T> task, std::optional<T>& into) {
  into.emplace(co_await std::move(task));
}

/// Runs one coroutine to its end on an io_context of its own.
template <class T>
T run(Task<T> task) {
  asio::io_context io(1);
  std::optional<T> result;
  asio::co_spawn(io, keep(std::move(task), result), [](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
  });
  io.run();
  return *std::move(result);
}

}  // namespace semel::testing
