#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/result.h"
#include "io/task.h"

namespace semel {

/// One call of a coroutine that waits for the thread that works through the queue.
///
/// Whoever settles it first, the thread with an answer or the watch with a deadline, decides; the
/// other's verdict is dropped.
class WaitingCall {
 public:
  explicit WaitingCall(Executor executor)
      : executor_(std::move(executor)), asked_(std::chrono::steady_clock::now()) {}
  virtual ~WaitingCall() = default;
  WaitingCall(const WaitingCall&) = delete;
  WaitingCall& operator=(const WaitingCall&) = delete;

  /// Carries the call out and keeps its reply. May be repeated: the last reply counts.
  virtual void run() = 0;
  /// The reply is this fault after all.
  virtual void fail(Fault fault) = 0;

  /// @param handler  Asio's completion handler `void()`; called on `executor`, never from inside.
  template <class Handler>
  void on_settled(Handler handler) {
    resume_ = std::make_unique<ResumeWith<Handler>>(std::move(handler));
  }

  [[nodiscard]] bool timed_out() const { return state_.load() == State::TimedOut; }

 private:
  friend class GroupQueue;
  enum class State : std::uint8_t { Waiting, Answered, TimedOut };
  struct Resume {
    virtual ~Resume() = default;
    virtual void call() = 0;
  };
  template <class Handler>
  struct ResumeWith final : Resume {
    explicit ResumeWith(Handler taken) : handler(std::move(taken)) {}
    void call() override { std::move(handler)(); }
    Handler handler;
  };

  /// @return false if it was settled before.
  bool settle(State state) {
    State expected = State::Waiting;
    return state_.compare_exchange_strong(expected, state);
  }
  void resume() { std::exchange(resume_, nullptr)->call(); }
  /// Its executor is gone and nobody will resume it: lets go of the coroutine, which holds this.
  void abandon() { resume_.reset(); }

  Executor executor_;
  std::chrono::steady_clock::time_point asked_;
  std::atomic<State> state_{State::Waiting};
  std::unique_ptr<Resume> resume_;
};

using CallGroup = std::vector<std::shared_ptr<WaitingCall>>;

/// Calls from any worker, taken in groups by one thread. What arrives while a group is worked on is
/// the next group. A slow watch answers calls that the thread leaves waiting past the deadline, so
/// that no call needs a timer of its own.
class GroupQueue {
 public:
  explicit GroupQueue(std::chrono::milliseconds deadline);
  ~GroupQueue();
  GroupQueue(const GroupQueue&) = delete;
  GroupQueue& operator=(const GroupQueue&) = delete;

  /// @thread Any. A closed or overfull queue settles the call at once, without running it.
  void push(std::shared_ptr<WaitingCall> call);
  /// Waits for calls. Empty: closed, and all that was queued has been taken.
  /// @owns The group stays as it is until answer().
  [[nodiscard]] const CallGroup& take();
  /// The calls of the group that take() gave last have their replies: wakes each worker once.
  void answer();
  /// Nothing more is let in.
  void close();

 private:
  class WakeUp;

  void watch();
  static void wake(CallGroup settled);

  const std::chrono::milliseconds deadline_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable closing_;
  CallGroup queued_;
  CallGroup running_;
  bool closed_ = false;
  bool ended_ = false;
  std::thread watch_;
};

}  // namespace semel
