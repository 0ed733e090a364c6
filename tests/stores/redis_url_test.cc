#include "stores/redis_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stores/open.h"

namespace semel {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The forms of redis-cli -u and of iana.org's provisional `redis` scheme.
TEST(RedisUrl, SaysWhereAndWho) {
  const RedisUrl plain = parse_redis_url("redis://cache.example");
  EXPECT_EQ(plain.wire, RedisUrl::Wire::Plain);
  EXPECT_EQ(plain.peer.host, "cache.example");
  EXPECT_EQ(plain.peer.port, 6'379);
  EXPECT_EQ(plain.database, 0U);
  EXPECT_EQ(plain.user + plain.password, "");

  const RedisUrl full = parse_redis_url("rediss://us%40er:p%3A%2Fw@[::1]:7000/5");
  EXPECT_EQ(full.wire, RedisUrl::Wire::Tls);
  EXPECT_EQ(full.user, "us@er");
  EXPECT_EQ(full.password, "p:/w");
  EXPECT_EQ(full.peer.host, "::1");
  EXPECT_EQ(full.peer.port, 7'000);
  EXPECT_EQ(full.database, 5U);
  EXPECT_EQ(name_of(full.peer), "[::1]:7000");

  EXPECT_EQ(parse_redis_url("redis://:secret@h").password, "secret");
  EXPECT_EQ(parse_redis_url("redis://h:1/").database, 0U);
}

TEST(RedisUrl, WhatIsWrongIsRefusedWithoutThePassword) {
  for (const char* text :
       {"", "http://h", "redis://", "redis://h:x", "redis://h:0", "redis://h:70000", "redis://h/x",
        "redis://[::1", "redis://[::1]x", "redis://:%z1secret@h", "redis://user@h",
        "redis://user:secret@h:port", "redis://:secret/more@h", "redis://user:secret/more@h"}) {
    try {
      static_cast<void>(parse_redis_url(text));
      ADD_FAILURE() << text;
    } catch (const StoreError& error) {
      EXPECT_THAT(error.what(), Not(HasSubstr("secret")));
    }
  }
}

}  // namespace
}  // namespace semel
