// A claim that was granted can be completed, whatever happens to the room on the disk afterwards.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "stores/open.h"
#include "tests/stores/run.h"
#include "tests/stores/small_disk.h"
#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {
namespace {

enum class EventLog : std::uint8_t { Off, On };

/// A store on a small disk, told in sentences for on_a_small_disk().
class Tale {
 public:
  explicit Tale(const std::string& folder, EventLog log = EventLog::Off) : neighbour(folder) {
    if (log == EventLog::On) options_.events.emplace();
    options_.path = folder + "/semel.db";
    options_.deadline = 30s;
    static_cast<void>(init_store(options_));
    open();
  }
  ~Tale() { close(); }
  Tale(const Tale&) = delete;
  Tale& operator=(const Tale&) = delete;

  void open() { store_ = open_store(options_, clock.clock()); }
  void close() {
    if (store_) store_->close();
    store_.reset();
  }
  [[nodiscard]] std::string reserve_file() const { return options_.path + ".reserve"; }

  Result<ClaimReply> claim(const ClaimRequest& request) { return run(store_->claim(request)); }
  /// @return the attempt; without a fence if it was not granted.
  Attempt open_claim(const ClaimRequest& request) {
    const auto reply = claim(request);
    const auto* granted = reply ? std::get_if<Granted>(&*reply) : nullptr;
    return {request.key, request.token, granted ? granted->fence : Fence{}};
  }
  Result<WriteReply> record(const Attempt& attempt, StoredResponsePtr response) {
    return run(store_->record(attempt, std::move(response)));
  }
  Store& store() { return *store_; }

  Neighbour neighbour;
  MovedClock clock;

 private:
  SqliteOptions options_;
  std::unique_ptr<Store> store_;
};

StoredResponsePtr large_answer() { return response_of(201, std::string(20'000, 'x')); }

/// As a proxy keeps an answer that it has no room for: with its header lines.
StoredResponsePtr bare_answer() {
  auto bare = std::make_shared<StoredResponse>();
  bare->status = 201;
  bare->kept = BodyKept::NotKept;
  bare->fields = {{"Set-Of-Many", std::string(6'000, 'h')}, {"And-More", std::string(6'000, 'h')}};
  return bare;
}

/// Ends claim number `n` in one of the ways in which a claim ends without a payload.
Result<WriteReply> end_claim(Tale& tale, std::uint64_t n, const Attempt& attempt) {
  if (n % 3 == 1) {
    return run(tale.store().mark_indeterminate(attempt, IndeterminateReason::Timeout, {}));
  }
  if (n % 3 == 2) return run(tale.store().release(attempt));
  return tale.record(attempt, bare_answer());
}

/// What a call on key `n` has to be told after end_claim(). @return false if it is told otherwise.
bool is_told_its_end(Tale& tale, std::uint64_t n) {
  const auto view = run(tale.store().find(request_of(n, 0).key));
  if (!view) return false;
  if (n % 3 == 2) return !*view;
  if (!*view) return false;
  if (n % 3 == 1) return (*view)->state == RecordView::State::Indeterminate;
  return (*view)->state == RecordView::State::Completed &&
         (*view)->response->kept == BodyKept::NotKept && (*view)->response->status == 201;
}

/// @param whole  What it was completed with before end_claim(); null: nothing.
bool is_told(Tale& tale, std::uint64_t n, const StoredResponsePtr& whole) {
  if (!whole) return is_told_its_end(tale, n);
  const auto view = run(tale.store().find(request_of(n, 0).key));
  return view && *view && (*view)->response && *(*view)->response == *whole;
}

/// Ends all of them one after the other while the neighbour takes whatever is free.
/// @return What the last one was completed with, if it had room for its body.
StoredResponsePtr end_all_on_a_full_disk(Tale& tale, const std::vector<Attempt>& open) {
  StoredResponsePtr last;
  for (std::uint64_t n = 0; n < open.size(); ++n) {
    tale.neighbour.take_all();
    const Result<WriteReply> whole = tale.record(open[n], large_answer());
    // The last one may have what is left of the reserve, and then it is kept whole.
    if (whole && n + 1 == open.size()) {
      last = large_answer();
      break;
    }
    demand(whole.has_error() && whole.error() == Fault::StoreFull,
           "there was room for a body at claim " + std::to_string(n));
    const auto done = end_claim(tale, n, open[n]);
    demand(done && *done == WriteReply::Done, "claim " + std::to_string(n) + " could not be ended");
  }
  for (std::uint64_t n = 0; n < open.size(); ++n) {
    demand(is_told(tale, n, n + 1 == open.size() ? last : nullptr),
           "claim " + std::to_string(n) + " is told otherwise");
  }
  return last;
}

void end_every_open_claim(EventLog log) {
  on_a_small_disk(log == EventLog::On ? "8m" : "4m", [log](const std::string& folder) {
    Tale tale(folder, log);
    std::vector<Attempt> open;
    for (std::uint64_t n = 0; n < 100; ++n) {
      open.push_back(tale.open_claim(request_of(n, n)));
      demand(open.back().fence.value != 0, "no room for claim " + std::to_string(n));
    }
    const StoredResponsePtr last = end_all_on_a_full_disk(tale, open);
    const auto refused = tale.claim(request_of(1'000, 1'000));
    demand(refused.has_error() && refused.error() == Fault::StoreFull, "a new key was let in");
    tale.neighbour.go();
    demand(tale.open_claim(request_of(1'000, 1'001)).fence.value != 0, "it did not heal");
    tale.close();
    tale.open();
    for (std::uint64_t n = 0; n < open.size(); ++n) {
      demand(is_told(tale, n, n + 1 == open.size() ? last : nullptr),
             "claim " + std::to_string(n) + " is told otherwise later");
    }
  });
}

TEST(SqliteReserve, EveryOpenClaimCanBeEndedOnAFullDisk) { end_every_open_claim(EventLog::Off); }

TEST(SqliteReserve, EveryOpenClaimCanBeEndedAndToldOnAFullDisk) {
  end_every_open_claim(EventLog::On);
}

TEST(SqliteReserve, AClaimThatCouldNotBeEndedIsNotGranted) {
  on_a_small_disk("4m", [](const std::string& folder) {
    Tale tale(folder);
    tale.neighbour.leave(400'000);
    std::vector<Attempt> open;
    for (std::uint64_t n = 0; n < 1'000; ++n) {
      const auto attempt = tale.open_claim(request_of(n, n));
      if (attempt.fence.value == 0) break;
      open.push_back(attempt);
    }
    demand(open.size() > 5 && open.size() < 100, std::to_string(open.size()) + " were granted");
    static_cast<void>(end_all_on_a_full_disk(tale, open));
  });
}

// So many claims that the steps in which the reserve grows make no difference.
constexpr std::uint64_t kMany = 300;

TEST(SqliteReserve, EachOfManyMayHaveBeenAnsweredWithLongHeaderLines) {
  on_a_small_disk("16m", [](const std::string& folder) {
    Tale tale(folder);
    std::vector<Attempt> open;
    for (std::uint64_t n = 0; n < kMany; ++n) {
      open.push_back(tale.open_claim(request_of(n, n)));
      demand(open.back().fence.value != 0, "no room for claim " + std::to_string(n));
    }
    for (const Attempt& attempt : open) {
      tale.neighbour.take_all();
      demand(tale.record(attempt, bare_answer()).has_value(), "one could not be recorded");
    }
  });
}

void end_many_with_a_long_name(std::size_t name_bytes, EventLog log) {
  on_a_small_disk(
      log == EventLog::On ? "96m" : "48m", [name_bytes, log](const std::string& folder) {
        Tale tale(folder, log);
        std::vector<Attempt> open;
        for (std::uint64_t n = 0; n < kMany; ++n) {
          auto request = request_of(n, n);
          request.tenant = std::string(name_bytes, 't');
          open.push_back(tale.open_claim(request));
          demand(open.back().fence.value != 0, "no room for claim " + std::to_string(n));
        }
        for (const Attempt& attempt : open) {
          tale.neighbour.take_all();
          demand(tale.record(attempt, bare_answer()).has_value(), "one could not be recorded");
        }
      });
}

TEST(SqliteReserve, EachOfManyMayBeOfATenantWithALongName) {
  for (const std::size_t name_bytes : {700, 2'000, 5'000}) {
    for (const EventLog log : {EventLog::Off, EventLog::On}) {
      SCOPED_TRACE(name_bytes);
      end_many_with_a_long_name(name_bytes, log);
    }
  }
}

TEST(SqliteReserve, WhatIsFreeOnAFullDiskGoesToNobodyElse) {
  on_a_small_disk("4m", [](const std::string& folder) {
    Tale tale(folder);
    const auto first = tale.open_claim(request_of(1, 1));
    const auto second = tale.open_claim(request_of(2, 2));
    const auto third = tale.open_claim(request_of(3, 3));
    tale.neighbour.take_all();
    demand(tale.record(first, bare_answer()).has_value(), "the first could not be ended");
    // Half of a megabyte is allocated for the others now, and it is not to be had for these.
    const auto body = tale.record(second, response_of(200, "a small body"));
    demand(body.has_error() && body.error() == Fault::StoreFull, "a body took the room");
    demand(run(tale.store().adopt_routes({route_today(1h, 2h)})).has_error(), "routes took it");
    demand(run(tale.store().forget("acme")).has_error(), "forgetting took it");
    demand(tale.claim(request_of(4, 4)).has_error(), "a claim took it");
    demand(tale.record(second, bare_answer()).has_value(), "the second could not be ended");
    demand(tale.record(third, bare_answer()).has_value(), "the third could not be ended");
  });
}

TEST(SqliteReserve, TheLastOpenClaimIsKeptWholeWithTheRoomThatIsLeft) {
  on_a_small_disk("4m", [](const std::string& folder) {
    Tale tale(folder);
    const auto first = tale.open_claim(request_of(1, 1));
    const auto last = tale.open_claim(request_of(2, 2));
    tale.neighbour.take_all();
    demand(tale.record(first, bare_answer()).has_value(), "the first could not be ended");
    demand(tale.record(last, large_answer()).has_value(), "half a megabyte was no room");
    demand(is_told(tale, 2, large_answer()), "it is told otherwise");
    tale.neighbour.go();
    tale.close();
    tale.open();
    demand(is_told(tale, 2, large_answer()), "the replay is not exact after a restart");
  });
}

/// A store whose reserve was not grown yet, because it was opened a moment ago.
class SqliteReserveOfAStart : public SqliteFixture {
 protected:
  /// @return An attempt whose outcome is unknown.
  Attempt left_unknown() {
    init();
    open();
    const Attempt attempt = granted(request_of(1, 1));
    EXPECT_EQ(run(store_->mark_indeterminate(attempt, IndeterminateReason::Timeout, {})).value(),
              WriteReply::Done);
    reopen();
    return attempt;
  }
  void expect_kept(const StoredResponse& answer) {
    reopen();
    const auto view = find(request_of(1, 1).key);
    ASSERT_TRUE(view && view->response);
    EXPECT_EQ(*view->response, answer);
  }
};

TEST_F(SqliteReserveOfAStart, AnAnswerThatAnOperatorGivesIsKeptWhole) {
  left_unknown();
  Resolution word;
  word.response = response_of(201, "seen");
  EXPECT_EQ(run(store_->resolve(request_of(1, 1).reference, word)).value(), ResolveReply::Done);
  expect_kept(*word.response);
}

TEST_F(SqliteReserveOfAStart, ALateAnswerIsKeptWhole) {
  const Attempt attempt = left_unknown();
  const auto answer = response_of(201, "late");
  EXPECT_EQ(record(attempt, answer), WriteReply::Done);
  expect_kept(*answer);
}

TEST_F(SqliteReserveOfAStart, ALateAnswerWithoutItsBodyKeepsItsHeaderLines) {
  const Attempt attempt = left_unknown();
  EXPECT_EQ(record(attempt, bare_answer()), WriteReply::Done);
  expect_kept(*bare_answer());
}

TEST(SqliteReserve, TheReserveOfAKilledProcessIsRoomForTheNextOne) {
  on_a_small_disk("2m", [](const std::string& folder) {
    Tale tale(folder);
    tale.open_claim(request_of(1, 1));
    tale.close();
    std::ofstream(tale.reserve_file()) << std::string(100'000, 'r');
    tale.neighbour.take_all();
    tale.open();
    const auto view = run(tale.store().find(request_of(1, 1).key)).value();
    demand(view && view->state == RecordView::State::Indeterminate, "the claim was not settled");
  });
}

TEST(SqliteReserve, IsGivenBackWithTheStore) {
  on_a_small_disk("2m", [](const std::string& folder) {
    Tale tale(folder);
    tale.open_claim(request_of(1, 1));
    demand(std::filesystem::file_size(tale.reserve_file()) > 64 * 1024, "nothing was reserved");
    tale.close();
    demand(!std::filesystem::exists(tale.reserve_file()), "the reserve is still there");
  });
}

TEST(SqliteReserve, AFullLogMakesRoomForItself) {
  // Most of a disk of this size is a log that repeats what the file has: the sweep gives it back.
  on_a_small_disk("3m", [](const std::string& folder) {
    Tale tale(folder);
    std::uint64_t n = 0;
    Result<ClaimReply> reply = Fault::StoreFull;
    do {
      const auto request = request_of(n % 5, n);
      reply = tale.claim(request);
      if (!reply) break;
      const Attempt attempt{request.key, request.token, std::get<Granted>(*reply).fence};
      if (!run(tale.store().release(attempt))) break;
      n += 1;
    } while (n < 10'000);
    demand(n < 10'000, "the disk was never full");
    demand(!reply || n > 0, "nothing was ever granted");
    static_cast<void>(run(tale.store().sweep(100)));
    demand(tale.open_claim(request_of(9'999, 99'999)).fence.value != 0, "no room after the sweep");
  });
}

}  // namespace
}  // namespace semel::testing
