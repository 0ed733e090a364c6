#include <gtest/gtest.h>

#include "stores/open.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"

namespace semel::testing {
namespace {

class FullMemory : public ::testing::Test {
 protected:
  void open(std::size_t records_max, std::size_t bytes_max) {
    store_ = open_store(MemoryOptions{records_max, bytes_max, std::nullopt}, clock_.clock());
  }
  Attempt granted(const ClaimRequest& request) {
    const auto reply = run(store_->claim(request));
    EXPECT_TRUE(reply && std::holds_alternative<Granted>(*reply));
    return {request.key, request.token, std::get<Granted>(reply.value()).fence};
  }
  Result<WriteReply> record(const Attempt& attempt, StoredResponsePtr response) {
    return run(store_->record(attempt, std::move(response)));
  }

  MovedClock clock_;
  std::unique_ptr<Store> store_;
};

TEST_F(FullMemory, RefusesNewKeysAndKeepsEveryLivingOne) {
  open(3, 1 << 20);
  for (std::uint64_t n = 0; n < 3; ++n) {
    const auto holder = granted(request_of(n, n));
    if (n > 0) record(holder, response_of(200, std::to_string(n))).value();
  }
  EXPECT_EQ(run(store_->claim(request_of(3, 3))).error(), Fault::StoreFull);
  const auto replay = run(store_->claim(request_of(1, 4))).value();
  EXPECT_EQ(std::get<Completed>(replay).response->body, "1");
  EXPECT_EQ(run(store_->health()).records, 3u);
}

TEST_F(FullMemory, TakesTheRoomOfWhatHasExpired) {
  open(2, 1 << 20);
  record(granted(request_of(1, 1)), response_of(200, "old")).value();
  const auto open_claim = granted(request_of(2, 2));
  clock_.advance(24h);
  granted(request_of(3, 3));
  EXPECT_FALSE(run(store_->find(request_of(1, 1).key)).value());
  EXPECT_TRUE(run(store_->find(open_claim.key)).value());
}

TEST_F(FullMemory, HasRoomForAnAnswerWithoutABodyWhenItHasNoneForABody) {
  open(10, 1'000);
  const auto holder = granted(request_of(1, 1));
  EXPECT_EQ(record(holder, response_of(200, std::string(2'000, 'x'))).error(), Fault::StoreFull);
  EXPECT_EQ(run(store_->find(holder.key)).value()->state, RecordView::State::InFlight);
  EXPECT_EQ(record(holder, response_without_body(200)).value(), WriteReply::Done);
}

TEST_F(FullMemory, CountsBytesDownAgainWhenRecordsGo) {
  open(1'000, 2'000);
  for (std::uint64_t n = 0; n < 50; ++n) {
    record(granted(request_of(n, n)), response_of(200, std::string(1'500, 'x'))).value();
    clock_.advance(24h);
    run(store_->sweep(100)).value();
  }
}

TEST(MemoryStore, InitHasNothingToDo) { EXPECT_NE(init_store(MemoryOptions{}), ""); }

}  // namespace
}  // namespace semel::testing
