// A process that is killed in the middle of its work: whatever it was told is still true
// afterwards.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {
namespace {

/// What the killed process had been told, one line for each answer that it got.
struct Told {
  std::uint64_t key = 0;
  std::uint64_t fence = 0;
  enum class What : std::uint64_t { Granted, Recorded } what = What::Granted;
};

/// The life of the process to be killed: claims keys, records every second one, and reports.
[[noreturn]] void work_until_killed(const SqliteOptions& options, const StoreClock& clock,
                                    int pipe) {
  const auto store = open_store(options, clock);
  const auto report = [pipe](const Told& told) {
    if (::write(pipe, &told, sizeof told) != sizeof told) ::_exit(1);
  };
  for (std::uint64_t n = 0;; ++n) {
    const auto request = request_of(n, n);
    const auto reply = run(store->claim(request));
    if (!reply || !std::holds_alternative<Granted>(*reply)) ::_exit(2);
    const Fence fence = std::get<Granted>(*reply).fence;
    report({n, fence.value, Told::What::Granted});
    if (n % 2 != 0) continue;
    const Attempt attempt{request.key, request.token, fence};
    if (!run(store->record(attempt, response_of(200, std::to_string(n))))) ::_exit(3);
    report({n, fence.value, Told::What::Recorded});
  }
}

/// One of several calls that are under way together; each ends with a byte in the pipe.
Task<> call_and_report(Store& store, std::uint64_t number, int pipe) {
  const auto request = request_of(number, number);
  const auto reply = co_await store.claim(request);
  if (!reply || !std::holds_alternative<Granted>(*reply)) ::_exit(2);
  const Attempt attempt{request.key, request.token, std::get<Granted>(*reply).fence};
  if (number % 3 == 0) {
    if (!co_await store.release(attempt)) ::_exit(3);
  } else if (number % 3 == 1) {
    if (!co_await store.record(attempt, response_of(200, std::string(number % 700, 'a'))))
      ::_exit(4);
  }
  if (::write(pipe, "", 1) != 1) ::_exit(1);
}

/// The same in groups, with housekeeping in between, which deletes rows.
[[noreturn]] void work_in_groups(const SqliteOptions& options, const StoreClock& clock,
                                 std::uint64_t first, int pipe) {
  const auto store = open_store(options, clock);
  for (std::uint64_t group = first;; group += 7) {
    const LentContext io;
    for (std::uint64_t n = group; n < group + 7; ++n) {
      asio::co_spawn(*io, call_and_report(*store, n, pipe), asio::detached);
    }
    io->run();
    if (!run(store->sweep(5))) ::_exit(5);
  }
}

class SqliteCrash : public SqliteFixture {};

TEST_F(SqliteCrash, WhatAKilledProcessWasToldIsStillTrue) {
  init();
  std::uint64_t highest_fence = 0;
  for (const int answers : {1, 2, 7, 90}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    SqliteOptions options = options_;
    options.path = folder_.path() + "/killed-" + std::to_string(answers) + ".db";
    static_cast<void>(init_store(options));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      work_until_killed(options, clock_.clock(), ends[1]);
    }
    ::close(ends[1]);
    std::map<std::uint64_t, Told> told;
    const auto take = [&] {
      Told one;
      if (::read(ends[0], &one, sizeof one) != sizeof one) return false;
      told[one.key] = one;
      return true;
    };
    for (int n = 0; n < answers; ++n) ASSERT_TRUE(take());
    ::kill(child, SIGKILL);
    while (take()) {
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));

    store_ = open_store(options, clock_.clock());
    for (const auto& [key, last] : told) {
      const auto view = find(request_of(key, key).key);
      ASSERT_TRUE(view) << "key " << key;
      EXPECT_EQ(view->fence.value, last.fence);
      highest_fence = std::max(highest_fence, last.fence);
      if (last.what == Told::What::Recorded) {
        ASSERT_EQ(view->state, RecordView::State::Completed) << "key " << key;
        EXPECT_EQ(view->response->body, std::to_string(key));
      } else if (view->state != RecordView::State::Completed) {
        EXPECT_EQ(view->reason, IndeterminateReason::OwnerLost);
      }
    }
    EXPECT_GT(granted(request_of(1'000'000, 1'000'000)).fence.value, told.rbegin()->second.fence);
    close();
  }
  EXPECT_GT(highest_fence, 40u);
}

TEST_F(SqliteCrash, NoKillInTheMiddleOfAGroupIsTakenForDamage) {
  options_.state_dir = folder_.path() + "/state";
  init();
  for (std::uint64_t round = 1; round <= 40; ++round) {
    SCOPED_TRACE(round);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      work_in_groups(options_, clock_.clock(), round * 100'000, ends[1]);
    }
    ::close(ends[1]);
    char byte = 0;
    // Somewhere in the first groups, at another place of them each time.
    for (std::uint64_t n = 0; n < round * 11 % 53; ++n) ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ::close(ends[0]);
    open();
    const StoreHealth health = run(store_->health());
    EXPECT_FALSE(health.suspect) << health.remark;
    close();
    EXPECT_EQ(sql("SELECT row_count FROM meta"), sql("SELECT count(*) FROM log"));
  }
  EXPECT_GT(std::stoi(sql("SELECT count(*) FROM log")), 100);
}

}  // namespace
}  // namespace semel::testing
