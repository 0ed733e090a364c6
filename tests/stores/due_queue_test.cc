#include "stores/due_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace semel {
namespace {

using namespace std::chrono_literals;

class DueQueueTest : public ::testing::Test {
 protected:
  /// A completed record that changed at `changed_at` and is kept for `retention`.
  Slot put(StoreTime changed_at, std::chrono::seconds retention) {
    const Slot slot = entries_.take();
    ClaimTerms terms;
    terms.retention = retention;
    entries_[slot].record.state = Record::State::Completed;
    entries_[slot].record.changed_at = changed_at;
    entries_[slot].record.terms = std::make_shared<const ClaimTerms>(terms);
    queue_.add(slot);
    return slot;
  }
  void take_out(Slot slot) {
    queue_.remove(slot);
    entries_.give_back(slot);
  }

  Slab<LedgerEntry> entries_;
  DueQueue queue_{entries_};
};

TEST_F(DueQueueTest, ShowsARecordFromTheMomentItIsDue) {
  const Slot slot = put(5s, 10s);
  EXPECT_EQ(queue_.due_by(15s - 1ns), kNoSlot);
  EXPECT_EQ(queue_.due_by(15s), slot);
}

TEST_F(DueQueueTest, ABriefWindowIsNotHeldUpByALongOne) {
  put(1s, 24h);
  const Slot brief = put(2s, 10s);
  EXPECT_EQ(queue_.due_by(12s), brief);
}

TEST_F(DueQueueTest, WhoeverComesLateInTimeIsStillShownInTime) {
  const Slot young = put(100s, 10s);
  const Slot old = put(50s, 10s);
  EXPECT_EQ(queue_.due_by(60s), old);
  take_out(old);
  EXPECT_EQ(queue_.due_by(60s), kNoSlot);
  EXPECT_EQ(queue_.due_by(110s), young);
}

TEST_F(DueQueueTest, WhatWasPostponedIsShownAtItsNewTime) {
  const Slot slot = put(0s, 10s);
  const Slot other = put(1s, 10s);
  queue_.postpone(slot, 20s);
  EXPECT_EQ(queue_.due_by(12s), other);
  take_out(other);
  EXPECT_EQ(queue_.due_by(20s - 1ns), kNoSlot);
  EXPECT_EQ(queue_.due_by(20s), slot);
  queue_.postpone(slot, 30s);
  EXPECT_EQ(queue_.due_by(20s), kNoSlot);
  take_out(slot);
  EXPECT_EQ(queue_.due_by(30s), kNoSlot);
}

TEST_F(DueQueueTest, WhatWasRecalledIsShownAtOnce) {
  const Slot slot = put(0s, 10s);
  queue_.postpone(slot, StoreTime::max());
  EXPECT_EQ(queue_.due_by(24h * 36500), kNoSlot);
  queue_.recall_postponed();
  EXPECT_EQ(queue_.due_by(10s), slot);
  queue_.postpone(slot, 20s);
  EXPECT_EQ(queue_.due_by(19s), kNoSlot);
  EXPECT_EQ(queue_.due_by(20s), slot);
}

TEST_F(DueQueueTest, AClaimIsDueWithItsLeaseAndAnIdempotentOneItsWindowLater) {
  struct Row {
    Policy policy;
    std::optional<std::chrono::seconds> window;
    StoreTime due;
  };
  for (const auto& [policy, window, due] : {Row{Policy::Effectful, {}, 30s},
                                            {Policy::Effectful, 10s, 30s},
                                            {Policy::Idempotent, {}, StoreTime::max()},
                                            {Policy::Idempotent, 10s, 40s}}) {
    const Slot slot = entries_.take();
    ClaimTerms terms;
    terms.policy = policy;
    terms.indeterminate_retention = window;
    entries_[slot].record.terms = std::make_shared<const ClaimTerms>(terms);
    entries_[slot].record.lease_end = 30s;
    queue_.add(slot);
    EXPECT_EQ(queue_.due_by(due - 1ns), kNoSlot);
    if (due == StoreTime::max()) continue;
    EXPECT_EQ(queue_.due_by(due), slot);
    queue_.remove(slot);
  }
}

TEST_F(DueQueueTest, AWindowWithoutAnEndIsNeverDue) {
  const Slot slot = put(1s, std::chrono::seconds::max());
  EXPECT_EQ(queue_.due_by(StoreTime::max()), kNoSlot);
  take_out(slot);
}

TEST_F(DueQueueTest, AgreesWithAnOrderedMapThroughALongRandomLife) {
  std::mt19937 random(3);
  std::map<Slot, StoreTime> due;
  StoreTime now{0};
  for (int step = 0; step < 20'000; ++step) {
    now += std::chrono::seconds(random() % 3);
    if (random() % 100 < 45) {
      const auto retention = std::chrono::seconds(1 + random() % 100);
      const StoreTime since = random() % 10 == 0 ? now / 2 : now;
      due.emplace(put(since, retention), since + retention);
    } else if (!due.empty() && random() % 2 == 0) {
      const auto at = std::next(due.begin(), random() % std::min<std::size_t>(due.size(), 8));
      take_out(at->first);
      due.erase(at);
    }
    const Slot shown = queue_.due_by(now);
    if (shown == kNoSlot) {
      for (const auto& [slot, time] : due) ASSERT_GT(time, now);
    } else {
      ASSERT_LE(due.at(shown), now);
      take_out(shown);
      due.erase(shown);
    }
  }
}

}  // namespace
}  // namespace semel
