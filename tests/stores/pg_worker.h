#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stores/pg_links.h"
#include "tests/stores/run.h"
#include "tests/support/deadline.h"

namespace semel::testing {

/// A statement and what it is asked with.
struct PgAsked {
  const PgStatement* statement = nullptr;
  std::vector<PgValue> params;
  std::size_t spread = 0;
};

/// One worker that asks, turned by the test's own thread.
class PgWorker {
 public:
  using Reply = Result<PgRows>;
  /// Replies in the order of the questions; absent: there is none yet.
  using Replies = std::shared_ptr<std::vector<std::optional<Reply>>>;

  explicit PgWorker(PgLinks& links) : links_(links) {}

  /// Asks all in one turn, and turns no further.
  [[nodiscard]] Replies begin(std::vector<PgAsked> questions) {
    auto replies = std::make_shared<std::vector<std::optional<Reply>>>(questions.size());
    for (std::size_t i = 0; i < questions.size(); ++i) {
      asio::co_spawn(*io_, ask(std::move(questions[i]), replies, i), asio::detached);
    }
    return replies;
  }
  /// Turns until there is a reply to each. @return false if a reply is still missing in the end.
  [[nodiscard]] bool finish(const Replies& replies) {
    return turn_until([&] {
      for (const auto& reply : *replies) {
        if (!reply) return false;
      }
      return true;
    });
  }
  [[nodiscard]] std::vector<Reply> ask_together(std::vector<PgAsked> questions) {
    const Replies replies = begin(std::move(questions));
    EXPECT_TRUE(finish(replies)) << "a call was never answered";
    std::vector<Reply> all;
    for (const auto& reply : *replies) all.push_back(reply.value_or(Fault::StoreBroken));
    return all;
  }
  [[nodiscard]] Reply ask(const PgStatement& statement, std::vector<PgValue> params = {},
                          std::size_t spread = 0) {
    return ask_together({{&statement, std::move(params), spread}}).front();
  }
  [[nodiscard]] bool turn_until(const std::function<bool()>& condition,
                                milliseconds patience = milliseconds{30'000}) {
    const Deadline deadline(patience);
    while (!condition()) {
      if (deadline.passed()) return false;
      io_->restart();
      io_->run_one_for(milliseconds{10});
    }
    return true;
  }
  [[nodiscard]] bool asks_until_answered(const PgStatement& statement, std::size_t spread = 0) {
    return turn_until([&] { return ask(statement, {}, spread).has_value(); });
  }
  asio::io_context& io() { return *io_; }

 private:
  Task<> ask(PgAsked question, Replies replies, std::size_t at) {
    auto reply = co_await links_.call(*question.statement, question.spread, question.params);
    (*replies)[at] = std::move(reply);
  }

  PgLinks& links_;
  LentContext io_;
};

/// The only value of the only row; absent where there is none, or it is NULL.
inline PgValue value_of(const PgWorker::Reply& reply) {
  if (!reply || reply->rows.size() != 1 || reply->rows.front().size() != 1) return std::nullopt;
  return reply->rows.front().front();
}
inline std::optional<std::int64_t> number_of(const PgWorker::Reply& reply) {
  return pg_integer(value_of(reply));
}
/// What went wrong; absent: nothing.
inline std::optional<Fault> fault_of(const PgWorker::Reply& reply) {
  return reply ? std::nullopt : std::optional(reply.error());
}

inline PgLinkOptions one_connection() {
  PgLinkOptions options;
  options.connections_per_worker = 1;
  return options;
}

}  // namespace semel::testing
