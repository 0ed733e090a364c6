// Expected values: RFC 3986, section 3, and WHATWG URL, section 5.1.
#include "proxy/page_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(PageTarget, IsSplitFirstAndDecodedThen) {
  const auto target = read_page_target("/v1/tenants/a%2Fb+c%20%C3%A9/records", "");
  ASSERT_TRUE(target);
  EXPECT_THAT(target->path, ElementsAre("v1", "tenants", "a/b+c \xC3\xA9", "records"));
  EXPECT_THAT(read_page_target("/", "")->path, ElementsAre(""));
  EXPECT_THAT(read_page_target("/v1//x/", "")->path, ElementsAre("v1", "", "x", ""));
}

TEST(PageTarget, QueryKeepsRepeatsInTheirOrder) {
  const auto target = read_page_target("/", "a=1&&b=x+y%2B&a=&c&=d");
  ASSERT_TRUE(target);
  EXPECT_THAT(target->query, ElementsAre(Pair("a", "1"), Pair("b", "x y+"), Pair("a", ""),
                                         Pair("c", ""), Pair("", "d")));
  EXPECT_EQ(target->first("a"), "1");
  EXPECT_EQ(target->first("d"), std::nullopt);
  EXPECT_THAT(target->all("a"), ElementsAre("1", ""));
}

TEST(PageTarget, IsNoneWhereAnEscapeIsBroken) {
  EXPECT_FALSE(read_page_target("/%2", ""));
  EXPECT_FALSE(read_page_target("/", "a=%zz"));
  EXPECT_FALSE(read_page_target("/", "%=1"));
  EXPECT_FALSE(read_page_target("", ""));
  EXPECT_FALSE(read_page_target("http://x/", ""));
}

}  // namespace
}  // namespace semel::proxy
