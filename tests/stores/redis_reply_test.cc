#include "stores/redis_reply.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "stores/redis_refusal.h"

namespace semel {
namespace {

using namespace std::string_literals;
using Kind = RedisReply::Kind;

std::optional<RedisReply> only(std::string_view bytes) {
  RedisReader reader;
  reader.feed(bytes);
  auto reply = reader.next();
  EXPECT_FALSE(reader.next());
  return reply;
}

/// redis.io, "Redis serialization protocol specification", RESP2.
TEST(RedisReply, EachKindIsWhatTheProtocolSays) {
  EXPECT_EQ(only("+OK\r\n")->text, "OK");
  EXPECT_EQ(only("+OK\r\n")->kind, Kind::Text);
  EXPECT_EQ(only(":-1000\r\n")->integer, -1000);
  EXPECT_EQ(only("$5\r\nhe\r\nl\r\n")->text, "he\r\nl");
  EXPECT_EQ(only("$0\r\n\r\n")->kind, Kind::Text);
  EXPECT_EQ(only("$-1\r\n")->kind, Kind::Nil);
  EXPECT_EQ(only("*-1\r\n")->kind, Kind::Nil);
  EXPECT_EQ(only("*0\r\n")->kind, Kind::Array);
  const auto error = only("-WRONGTYPE Operation against a key\r\n");
  EXPECT_TRUE(error->is_error());
  EXPECT_EQ(error->code(), "WRONGTYPE");
}

/// src/server.c of 7.0, rejectCommandFormat(), and of 5.0: what they quote may be a secret.
TEST(RedisReply, AnErrorIsHeardUpToTheArgumentsThatItQuotes) {
  EXPECT_EQ(only("-ERR unknown command 'AUTH', with args beginning with: 's3cr3t' \r\n")->text,
            "ERR unknown command 'AUTH'");
  EXPECT_EQ(only("-ERR unknown command `AUTH`, with args beginning with: `s3cr3t`, \r\n")->text,
            "ERR unknown command `AUTH`");
  EXPECT_EQ(only("*1\r\n-ERR no, with args beginning with: x\r\n")->items[0].text, "ERR no");
  EXPECT_EQ(only("$33\r\nx, with args beginning with: no e\r\n")->text,
            "x, with args beginning with: no e")
      << "what is no error is whole";
}

TEST(RedisReply, ArraysWithinArraysKeepTheirPlaces) {
  const auto reply = only("*3\r\n*2\r\n:1\r\n*1\r\n+a\r\n$-1\r\n*2\r\n+b\r\n-E x\r\n");
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->items.size(), 3U);
  EXPECT_EQ(reply->items[0].items[0].integer, 1);
  EXPECT_EQ(reply->items[0].items[1].items[0].text, "a");
  EXPECT_EQ(reply->items[1].kind, Kind::Nil);
  EXPECT_EQ(reply->items[2].items[0].text, "b");
  EXPECT_EQ(reply->items[2].items[1].code(), "E");
}

TEST(RedisReply, ALongArrayOfArraysIsWhole) {
  std::string bytes = "*5000\r\n";
  for (int i = 0; i < 5'000; ++i) bytes += "*2\r\n:" + std::to_string(i) + "\r\n+x\r\n";
  const auto reply = only(bytes);
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->items.size(), 5'000U);
  for (std::size_t i = 0; i < 5'000; ++i) {
    ASSERT_EQ(reply->items[i].items[0].integer, static_cast<std::int64_t>(i));
  }
}

TEST(RedisReply, WhatIsNoProtocolIsNeverAnAnswerNorIsWhatFollows) {
  for (const char* bytes : {"?\r\n", "%1\r\n", ":x\r\n", "$x\r\n", "*x\r\n", "$-2\r\n", "*-2\r\n",
                            "*9999999\r\n", ":99999999999999999999\r\n"}) {
    RedisReader reader;
    reader.feed(bytes);
    EXPECT_FALSE(reader.next()) << bytes;
    EXPECT_TRUE(reader.is_broken()) << bytes;
    reader.feed("+OK\r\n");
    EXPECT_FALSE(reader.next()) << bytes;
  }
}

TEST(RedisReply, ACommandIsAnArrayOfItsWordsWhateverIsInThem) {
  std::string out = "before";
  const std::array<std::string_view, 3> words{"SET", std::string_view("a\0\r\n", 4), ""};
  append_command(out, words);
  EXPECT_EQ(out, "before*3\r\n$3\r\nSET\r\n$4\r\na\0\r\n\r\n$0\r\n\r\n"s);
}

/// The words are those of Redis 7.0's own replies (src/server.c, createSharedObjects).
TEST(RedisRefusal, TheServersOwnWordsAreKnown) {
  const auto refusal = [](const char* line) { return refusal_of(*only(line)); };
  EXPECT_EQ(refusal("-NOSCRIPT No matching script. Please use EVAL.\r\n"),
            RedisRefusal::UnknownText);
  EXPECT_EQ(refusal("-READONLY You can't write against a read only replica.\r\n"),
            RedisRefusal::Demoted);
  EXPECT_EQ(refusal("-LOADING Redis is loading the dataset in memory\r\n"), RedisRefusal::Unable);
  EXPECT_EQ(refusal("-BUSY Redis is busy running a script.\r\n"), RedisRefusal::Unable);
  EXPECT_EQ(refusal("-MISCONF Redis is configured to save RDB snapshots\r\n"),
            RedisRefusal::Unable);
  EXPECT_EQ(refusal("-NOREPLICAS Not enough good replicas to write.\r\n"), RedisRefusal::Unable);
  EXPECT_EQ(refusal("-OOM command not allowed when used memory > 'maxmemory'.\r\n"),
            RedisRefusal::Full);
  EXPECT_EQ(refusal("-NOAUTH Authentication required.\r\n"), RedisRefusal::Forbidden);
  EXPECT_EQ(refusal("-NOPERM this user has no permissions to run the 'evalsha' command\r\n"),
            RedisRefusal::Forbidden);
  EXPECT_EQ(refusal("-ERR unknown command\r\n"), RedisRefusal::None);
  EXPECT_EQ(refusal("+MOVED 1 a:1\r\n"), RedisRefusal::None);
  EXPECT_EQ(fault_of(RedisRefusal::Full), Fault::StoreFull);
  EXPECT_EQ(fault_of(RedisRefusal::Demoted), Fault::StoreUnreachable);
}

/// The words are those of Redis 7.2 and later; 7.0 says ERR.
TEST(RedisRefusal, WhatIsForbiddenInTheMiddleOfAScriptMayHaveLeftSomethingBehind) {
  const auto refused = only(
      "-NOPERM ACL failure in script: User semel has no permissions to run the 'xadd' command "
      "script: 0123456789012345678901234567890123456789, on @user_script:7.\r\n");
  EXPECT_EQ(refusal_of(*refused), RedisRefusal::None);
}

/// redis.io, "Redis cluster specification", MOVED and ASK redirection.
TEST(RedisRefusal, ARedirectionNamesANodeOrTheOneThatWasAsked) {
  const Peer asked{"10.0.0.1", 7'000, ""};
  const auto moved = redirect_of(*only("-MOVED 3999 127.0.0.1:6381\r\n"), asked);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->host, "127.0.0.1");
  EXPECT_EQ(moved->port, 6'381);
  EXPECT_EQ(redirect_of(*only("-ASK 1 ::1:6381\r\n"), asked)->host, "::1");
  EXPECT_EQ(redirect_of(*only("-MOVED 1 :6381\r\n"), asked)->host, "10.0.0.1");
  EXPECT_FALSE(redirect_of(*only("-MOVED 1 host:\r\n"), asked));
  EXPECT_FALSE(redirect_of(*only("-MOVED\r\n"), asked));
  EXPECT_FALSE(redirect_of(*only("-MOVED 1 host:99999\r\n"), asked));
}

}  // namespace
}  // namespace semel
