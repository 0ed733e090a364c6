#include "proxy/retry_budget.h"

#include <gtest/gtest.h>

namespace semel::proxy {
namespace {

int spent(RetryBudget& budget) {
  int retries = 0;
  while (retries < 100'000 && budget.spend()) ++retries;
  return retries;
}

TEST(RetryBudget, AQuietRouteMayRetryAFewTimesInARow) {
  RetryBudget budget(20);
  EXPECT_EQ(spent(budget), 10);
  EXPECT_FALSE(budget.spend());
}

TEST(RetryBudget, FiveRequestsEarnOneRetryAtTwentyPercent) {
  RetryBudget budget(20);
  spent(budget);
  for (int i = 0; i < 4; ++i) budget.earn();
  EXPECT_FALSE(budget.spend());
  // A hair more than five: fifths are no binary fractions.
  for (int i = 0; i < 2; ++i) budget.earn();
  EXPECT_TRUE(budget.spend());
  EXPECT_FALSE(budget.spend());
}

TEST(RetryBudget, InAStormRetriesStayWithinTheirShareOfRequests) {
  RetryBudget budget(20);
  int retries = 0;
  for (int request = 0; request < 10'000; ++request) {
    budget.earn();
    if (budget.spend()) ++retries;
  }
  EXPECT_LE(retries, 10'000 / 5 + 10);
  EXPECT_GE(retries, 10'000 / 5 - 1);
}

TEST(RetryBudget, ALongQuietTimeSavesNoStorm) {
  RetryBudget budget(20);
  for (int request = 0; request < 1'000'000; ++request) budget.earn();
  EXPECT_EQ(spent(budget), 100);
}

TEST(RetryBudget, NoPercentIsNoRetry) {
  RetryBudget budget(0);
  for (int request = 0; request < 1'000; ++request) budget.earn();
  EXPECT_FALSE(budget.spend());
}

}  // namespace
}  // namespace semel::proxy
