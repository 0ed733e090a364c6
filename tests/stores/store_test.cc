#include "stores/store.h"

#include <gtest/gtest.h>

#include <boost/asio/this_coro.hpp>

#include "stores/memory_store.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"

namespace semel::testing {
namespace {

/// @return true if it resumed where it was called.
Task<bool> awaited(Store& store, std::chrono::steady_clock::time_point until) {
  const Executor home = co_await asio::this_coro::executor;
  co_await store.await_change(id_of<IdempotencyKey>(1), until);
  co_return home.running_in_this_thread();
}

TEST(StoreDefaults, AStoreThatNobodySharesGivesNoSignAndTheWaitEndsAtItsTime) {
  MemoryStore store(MemoryOptions{}, StoreClock::real());
  const auto until = std::chrono::steady_clock::now() + 20ms;
  EXPECT_TRUE(run(awaited(store, until)));
  EXPECT_GE(std::chrono::steady_clock::now(), until);
  EXPECT_TRUE(run(awaited(store, until))) << "a time that has passed";
}

TEST(StoreDefaults, AStoreWithoutALogHasNoEventsAndNoGap) {
  MemoryStore store(MemoryOptions{}, StoreClock::real());
  EventFilter filter;
  filter.after = "17";
  const auto reply = run(store.events(filter));
  ASSERT_TRUE(reply);
  const auto* page = std::get_if<EventPage>(&*reply);
  ASSERT_NE(page, nullptr);
  EXPECT_TRUE(page->events.empty());
  EXPECT_EQ(page->next, "") << "a log that is on always says where to go on";
}

}  // namespace
}  // namespace semel::testing
