#pragma once

#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/result.h"
#include "io/task.h"
#include "stores/pg_statement.h"
#include "stores/pg_value.h"

namespace semel {

/// One call on its way to the server and back, and the coroutine that waits for it.
/// @thread One worker's.
class PgCall {
 public:
  using Clock = std::chrono::steady_clock;

  PgCall(const PgStatement& asked, std::vector<PgValue> with, Clock::time_point until)
      : statement(asked), params(std::move(with)), deadline(until) {}

  const PgStatement& statement;
  std::vector<PgValue> params;  ///< Gone once they have been sent.
  const Clock::time_point deadline;
  std::optional<Result<PgRows>> reply;

  /// @param handler  Asio's completion handler `void()`.
  template <class Handler>
  void on_settled(Handler handler) {
    resume_ = std::make_unique<ResumeWith<Handler>>(std::move(handler));
  }
  void resume() {
    if (const auto waiting = std::exchange(resume_, nullptr)) waiting->call();
  }
  /// Nobody will resume it: lets go of the coroutine, which holds this.
  void abandon() { resume_.reset(); }

 private:
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
  std::unique_ptr<Resume> resume_;
};

using PgCalls = std::vector<std::shared_ptr<PgCall>>;

/// Resumes all that wait for these, each of which has its reply, as one piece of the worker's work.
void resume_later(const Executor& executor, PgCalls settled);

}  // namespace semel
