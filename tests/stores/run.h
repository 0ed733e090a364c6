#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "io/task.h"

namespace semel::testing {

/// An io_context on loan. A store may still be touching the one that it woke, so they are reused
/// and end with the program, as a worker's outlives its store.
class LentContext {
 public:
  LentContext() {
    const std::lock_guard lock(mutex());
    if (idle().empty()) {
      io_ = std::make_unique<asio::io_context>(1);
    } else {
      io_ = std::move(idle().back());
      idle().pop_back();
    }
  }
  ~LentContext() {
    io_->restart();
    const std::lock_guard lock(mutex());
    idle().push_back(std::move(io_));
  }
  LentContext(const LentContext&) = delete;
  LentContext& operator=(const LentContext&) = delete;

  asio::io_context& operator*() const { return *io_; }
  asio::io_context* operator->() const { return io_.get(); }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::vector<std::unique_ptr<asio::io_context>>& idle() {
    static std::vector<std::unique_ptr<asio::io_context>> idle;
    return idle;
  }

  std::unique_ptr<asio::io_context> io_;
};

template <class T>
Task<> keep(Task<T> task, std::optional<T>& into) {
  into.emplace(co_await std::move(task));
}

/// Runs one coroutine to its end on a worker of its own. What the store has going there beside it,
/// a link to its server, stands still until the next one runs.
template <class T>
T run(Task<T> task) {
  const LentContext io;
  std::optional<T> result;
  asio::co_spawn(*io, keep(std::move(task), result), [&io](std::exception_ptr error) {
    io->stop();
    if (error) std::rethrow_exception(error);
  });
  io->run();
  return *std::move(result);
}

}  // namespace semel::testing
