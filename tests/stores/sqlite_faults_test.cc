// What the SQLite store says and keeps while its disk fails, fills up or stands still.

#include <boost/asio/co_spawn.hpp>

#include "tests/stores/faulty_vfs.h"
#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {
namespace {

using Mood = FaultyDisk::Mood;

class SqliteFaults : public SqliteFixture {
 protected:
  SqliteFaults() {
    disk_.set(Mood::Well);
    init();
    open();
  }
  ~SqliteFaults() override { disk_.set(Mood::Well); }

  FaultyDisk& disk_ = FaultyDisk::instance();
};

Task<> claim_into(Store& store, ClaimRequest request, std::optional<Result<ClaimReply>>& reply) {
  reply = co_await store.claim(std::move(request));
}

/// Claims that are under way together on one worker.
class Claims {
 public:
  void start(Store& store, const ClaimRequest& request) {
    replies_.push_back(std::make_unique<std::optional<Result<ClaimReply>>>());
    asio::co_spawn(*io_, claim_into(store, request, *replies_.back()), asio::detached);
    io_->poll();
  }
  void finish() { io_->run(); }
  Result<ClaimReply> reply(std::size_t number) { return replies_.at(number)->value(); }

 private:
  LentContext io_;
  std::vector<std::unique_ptr<std::optional<Result<ClaimReply>>>> replies_;
};

TEST_F(SqliteFaults, AfterAFailedWriteTheStoreStaysDownUntilItIsReopened) {
  for (const auto mood : {Mood::WriteFails, Mood::SyncFails}) {
    const auto kept = granted(request_of(1, 1));
    disk_.set(mood);
    EXPECT_EQ(claim(request_of(2, 2)).error(), Fault::StoreBroken);
    disk_.set(Mood::Well);
    EXPECT_EQ(claim(request_of(3, 3)).error(), Fault::StoreBroken);
    EXPECT_EQ(run(store_->find(kept.key)).error(), Fault::StoreBroken);
    EXPECT_FALSE(run(store_->health()).up);
    reopen();
    EXPECT_TRUE(run(store_->health()).up);
    EXPECT_EQ(find(kept.key)->state, RecordView::State::Indeterminate);
    ASSERT_EQ(run(store_->release(kept)).value(), WriteReply::Done);
    run(store_->release(Attempt{request_of(2, 2).key, request_of(2, 2).token, {}})).value();
  }
}

TEST_F(SqliteFaults, AFullDiskRefusesAndHealsByItself) {
  const auto before = granted(request_of(1, 1));
  disk_.set(Mood::Full);
  EXPECT_EQ(claim(request_of(2, 2)).error(), Fault::StoreFull);
  EXPECT_EQ(run(store_->record(before, response_of(200, "no room"))).error(), Fault::StoreFull);
  EXPECT_EQ(find(before.key)->state, RecordView::State::InFlight);
  EXPECT_FALSE(find(request_of(2, 2).key));
  EXPECT_TRUE(run(store_->health()).up);
  disk_.set(Mood::Well);
  EXPECT_EQ(record(before, response_of(200, "room again")), WriteReply::Done);
  const auto after = granted(request_of(2, 3));
  EXPECT_GT(after.fence, before.fence);
  reopen();
  EXPECT_EQ(find(before.key)->response->body, "room again");
}

TEST_F(SqliteFaults, AContradictionThatFoundNoRoomIsCountedOnce) {
  const auto set_free = [this](const ClaimRequest& request) {
    const Attempt attempt = granted(request);
    run(store_->mark_indeterminate(attempt, IndeterminateReason::Cut, {})).value();
    Resolution word;
    word.decision = Resolution::Decision::DidNotHappen;
    EXPECT_EQ(run(store_->resolve(request.reference, word)).value(), ResolveReply::Done);
    return attempt;
  };
  const auto answer = response_of(200, "it did");
  const Attempt late = set_free(request_of(1, 1));
  disk_.set(Mood::Full);
  EXPECT_EQ(run(store_->record(late, answer)).error(), Fault::StoreFull);
  EXPECT_EQ(run(store_->health()).resolutions_contradicted, 0u);
  disk_.set(Mood::Well);
  EXPECT_EQ(record(late, answer), WriteReply::DoneAgainstWord);
  EXPECT_EQ(run(store_->health()).resolutions_contradicted, 1u);

  const Attempt stale = set_free(request_of(2, 2));
  granted(request_of(2, 3));
  EXPECT_EQ(record(stale, answer), WriteReply::StaleAgainstWord);
  disk_.set(Mood::Full);
  EXPECT_EQ(claim(request_of(4, 4)).error(), Fault::StoreFull);
  EXPECT_EQ(run(store_->health()).resolutions_contradicted, 2u) << "that one was told";
  disk_.set(Mood::Well);
}

TEST_F(SqliteFaults, RoutesThatFoundNoRoomAreNotAdopted) {
  auto brief = request_of(1, 1);
  brief.retention = 60s;
  record(granted(brief), response_of(200, "once"));
  disk_.set(Mood::Full);
  EXPECT_EQ(run(store_->adopt_routes({route_today(1h, std::nullopt)})).error(), Fault::StoreFull);
  EXPECT_TRUE(run(store_->routes()).value().empty());
  disk_.set(Mood::Well);
  clock_.advance(60s);
  EXPECT_EQ(run(store_->sweep(100)).value().expired, 1u) << "its own window alone counts";
}

TEST_F(SqliteFaults, AStalledDiskLetsCallersGoAtTheirDeadline) {
  close();
  options_.deadline = 40ms;
  open();
  const auto request = request_of(1, 1);
  disk_.set(Mood::SyncStalls);
  EXPECT_EQ(claim(request).error(), Fault::StoreTimeout);
  EXPECT_FALSE(run(store_->health()).up);
  disk_.set(Mood::Well);
  // It was taken after all, and asking again with the same token finds it.
  Result<ClaimReply> again = Fault::StoreTimeout;
  for (int tries = 0; tries < 100 && !again; ++tries) again = claim(request);
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(std::holds_alternative<Granted>(*again));
}

TEST_F(SqliteFaults, AClaimThatWaitedTooLongLeavesNoGhost) {
  close();
  options_.deadline = 40ms;
  open();
  disk_.set(Mood::SyncStalls);
  Claims claims;
  claims.start(*store_, request_of(1, 1));
  disk_.await_stall();
  claims.start(*store_, request_of(2, 2));
  claims.finish();
  EXPECT_EQ(claims.reply(1).error(), Fault::StoreTimeout);
  clock_.advance(2s);
  disk_.set(Mood::Well);
  close();
  options_.deadline = 30s;
  open();
  EXPECT_TRUE(find(request_of(1, 1).key));
  EXPECT_FALSE(find(request_of(2, 2).key));
}

TEST_F(SqliteFaults, AReleaseOvertakesNoClaimThatStillWaits) {
  close();
  options_.deadline = 40ms;
  open();
  disk_.set(Mood::SyncStalls);
  Claims claims;
  claims.start(*store_, request_of(1, 1));
  disk_.await_stall();
  const auto request = request_of(2, 2);
  EXPECT_EQ(claim(request).error(), Fault::StoreTimeout);
  const Attempt unanswered{request.key, request.token, Fence{}};
  EXPECT_EQ(run(store_->release(unanswered)).error(), Fault::StoreTimeout);
  disk_.set(Mood::Well);
  claims.finish();
  options_.deadline = 30s;
  reopen();
  // Taken and never given back, it would be an unknown outcome now.
  EXPECT_FALSE(find(request.key));
  EXPECT_TRUE(find(request_of(1, 1).key));
}

TEST_F(SqliteFaults, WhatArrivesDuringAnFsyncSharesTheNextOne) {
  const auto commits_before = run(store_->health()).commits;
  disk_.set(Mood::SyncStalls);
  Claims claims;
  claims.start(*store_, request_of(0, 0));
  disk_.await_stall();
  for (std::uint64_t n = 1; n < 100; ++n) claims.start(*store_, request_of(n, n));
  disk_.set(Mood::Well);
  claims.finish();
  for (std::size_t n = 0; n < 100; ++n) {
    EXPECT_TRUE(std::holds_alternative<Granted>(claims.reply(n).value()));
  }
  EXPECT_EQ(run(store_->health()).commits - commits_before, 2u);
}

TEST_F(SqliteFaults, NobodyIsAnsweredBeforeTheDiskHasIt) {
  disk_.set(Mood::SyncStalls);
  Claims claims;
  const auto request = request_of(1, 1);
  claims.start(*store_, request);
  disk_.await_stall();
  std::optional<Result<std::optional<RecordView>>> found;
  const LentContext reader;
  asio::co_spawn(*reader, keep(store_->find(request.key), found), asio::detached);
  reader->poll();
  EXPECT_FALSE(found);
  disk_.set(Mood::Well);
  claims.finish();
  reader->run();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->value()->state, RecordView::State::InFlight);
}

TEST_F(SqliteFaults, CloseFinishesWhatIsQueued) {
  disk_.set(Mood::SyncStalls);
  Claims claims;
  claims.start(*store_, request_of(1, 1));
  disk_.await_stall();
  claims.start(*store_, request_of(2, 2));
  disk_.set(Mood::Well);
  store_->close();
  claims.finish();
  EXPECT_TRUE(std::holds_alternative<Granted>(claims.reply(0).value()));
  EXPECT_TRUE(std::holds_alternative<Granted>(claims.reply(1).value()));
}

}  // namespace
}  // namespace semel::testing
