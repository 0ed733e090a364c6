#include "stores/claim_terms.h"

#include <gtest/gtest.h>

#include "tests/stores/requests.h"

namespace semel::testing {
namespace {

TEST(TermsPool, EqualTermsAreOneAndAnyDifferenceMakesTwo) {
  TermsPool pool;
  const auto base = pool.share(request_of(1, 1));
  EXPECT_EQ(pool.share(request_of(2, 2)), base);
  auto other = request_of(1, 1);
  other.tenant = "globex";
  EXPECT_NE(pool.share(other), base);
  other = request_of(1, 1);
  other.route = "pay";
  EXPECT_NE(pool.share(other), base);
  other = request_of(1, 1);
  other.policy = Policy::Idempotent;
  EXPECT_NE(pool.share(other), base);
  other = request_of(1, 1);
  other.retention += 1s;
  EXPECT_NE(pool.share(other), base);
  other = request_of(1, 1);
  other.indeterminate_retention = 48h;
  EXPECT_NE(pool.share(other), base);
  other = request_of(1, 1);
  other.bindings.caller.bytes[31] = 1;
  EXPECT_NE(pool.share(other), base);
  EXPECT_EQ(pool.size(), 7u);
}

TEST(TermsPool, TermsReadFromAFileJoinThoseThatAreThere) {
  TermsPool pool;
  const auto here = pool.share(request_of(1, 1));
  EXPECT_EQ(pool.share(std::make_shared<const ClaimTerms>(terms_of(request_of(1, 1)))), here);
}

TEST(TermsPool, TenantsThatNobodyHoldsAreLetGo) {
  TermsPool pool;
  auto request = request_of(1, 1);
  const auto held = pool.share(request);
  for (int tenant = 0; tenant < 100'000; ++tenant) {
    request.tenant = std::to_string(tenant);
    static_cast<void>(pool.share(request));
    ASSERT_LE(pool.size(), 1'024u);
  }
  pool.purge();
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool.share(request_of(1, 1)), held);
}

}  // namespace
}  // namespace semel::testing
