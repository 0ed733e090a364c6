#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include "io/task.h"

namespace semel::testing {

/// A worker that runs all the time, on a thread of its own, as one of the program does.
class RunningWorker {
 public:
  RunningWorker() : thread_([this] { io_.run(); }) {}
  ~RunningWorker() { stop(); }
  RunningWorker(const RunningWorker&) = delete;
  RunningWorker& operator=(const RunningWorker&) = delete;

  [[nodiscard]] Executor executor() { return io_.get_executor(); }

  template <class T>
  [[nodiscard]] std::future<T> start(Task<T> task) {
    auto promise = std::make_shared<std::promise<T>>();
    auto future = promise->get_future();
    asio::co_spawn(io_, std::move(task), [promise](std::exception_ptr failed, T value) {
      if (failed) return promise->set_exception(failed);
      promise->set_value(std::move(value));
    });
    return future;
  }

  /// @throws std::runtime_error if it does not end.
  template <class T>
  [[nodiscard]] static T wait_for(std::future<T> future) {
    if (future.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
      throw std::runtime_error("a task does not end");
    }
    return future.get();
  }
  template <class T>
  [[nodiscard]] T run(Task<T> task) {
    return wait_for(start(std::move(task)));
  }

  /// Runs `work` on the worker, in one turn.
  template <class Work>
  void in_one_turn(Work work) {
    std::promise<void> done;
    asio::post(io_, [&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  /// No coroutine of it goes on from here on.
  void stop() {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  asio::io_context io_{1};
  asio::executor_work_guard<Executor> work_{io_.get_executor()};
  std::thread thread_;
};

}  // namespace semel::testing
