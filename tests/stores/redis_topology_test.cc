#include "stores/redis_topology.h"

#include <gtest/gtest.h>

#include <set>

#include "stores/redis_sentinels.h"

namespace semel {
namespace {

Peer peer(const std::string& host, std::uint16_t port) { return {host, port, ""}; }

RedisReply reply(std::string_view bytes) {
  RedisReader reader;
  reader.feed(bytes);
  return reader.next().value();
}

/// The Redis cluster specification, appendix A (CRC-16/XMODEM), and its section on hash tags.
TEST(RedisSlot, IsThePublishedOne) {
  EXPECT_EQ(redis_slot_of("123456789"), 0x31C3 % 16'384);
  EXPECT_EQ(redis_slot_of("{user1000}.following"), redis_slot_of("{user1000}.followers"));
  EXPECT_EQ(redis_slot_of("{user1000}.following"), redis_slot_of("user1000"));
  EXPECT_EQ(redis_slot_of("foo{{bar}}zap"), redis_slot_of("{bar"));
  EXPECT_EQ(redis_slot_of("foo{bar}{zap}"), redis_slot_of("bar"));
  EXPECT_NE(redis_slot_of("foo{}{bar}"), redis_slot_of("bar"));
}

TEST(RedisTopology, LanesOfAClusterShareItsSlotsEvenlyAndOneServerHasOne) {
  const RedisTopology cluster(RedisTopology::Kind::Cluster, peer("a", 1));
  ASSERT_EQ(cluster.lanes(), 16U);
  for (std::size_t lane = 0; lane < 16; ++lane) {
    EXPECT_EQ(redis_slot_of(cluster.tag(lane) + ":key") / 1'024, lane) << cluster.tag(lane);
  }
  const RedisTopology single(RedisTopology::Kind::Single, peer("a", 1));
  EXPECT_EQ(single.lanes(), 1U);
  EXPECT_EQ(single.tag(0), "{semel}");
}

/// Part of every key of a store: another tag would not find what is there. The slots are those that
/// Python's binascii.crc_hqx(tag, 0) % 16384 gives.
TEST(RedisTopology, TagsStayWhatTheyAre) {
  const RedisTopology cluster(RedisTopology::Kind::Cluster, peer("a", 1));
  std::string all;
  for (std::size_t lane = 0; lane < 16; ++lane) all += cluster.tag(lane);
  EXPECT_EQ(all,
            "{semel:43}{semel:61}{semel:21}{semel:2}{semel:42}{semel:60}{semel:20}{semel:3}"
            "{semel:41}{semel:63}{semel:23}{semel:0}{semel:40}{semel:62}{semel:22}{semel:1}");
}

TEST(RedisTopology, AMapSaysWhoHoldsWhatAndAnEmptyHostIsWhoWasAsked) {
  RedisTopology cluster(RedisTopology::Kind::Cluster, peer("seed", 1));
  const auto map = read_redis_slots(
      reply("*2\r\n*3\r\n:0\r\n:8191\r\n*3\r\n$0\r\n\r\n:7000\r\n+id\r\n"
            "*4\r\n:8192\r\n:16383\r\n*3\r\n+b\r\n:7001\r\n+id\r\n*3\r\n+c\r\n:7002\r\n+id\r\n"),
      peer("asked", 9));
  cluster.learn(map);
  EXPECT_EQ(cluster.holder(0).host, "asked");
  EXPECT_EQ(cluster.holder(0).port, 7'000);
  EXPECT_EQ(cluster.holder(15).host, "b");
  EXPECT_EQ(cluster.lanes_of(peer("b", 7'001)).size(), 8U);

  const auto before = cluster.version();
  cluster.learn(map);
  EXPECT_EQ(cluster.version(), before);
  cluster.move(3, peer("b", 7'001));
  EXPECT_GT(cluster.version(), before);
  EXPECT_EQ(cluster.holder(3).host, "b");

  // Whoever is left knows who has the lanes of one that is gone.
  cluster.lose(peer("b", 7'001));
  EXPECT_TRUE(cluster.lanes_of(peer("b", 7'001)).empty());
}

TEST(RedisTopology, AMapThatIsNoneChangesNothing) {
  RedisTopology cluster(RedisTopology::Kind::Cluster, peer("seed", 1));
  for (const char* bytes : {"*0\r\n", "+OK\r\n", "*1\r\n+x\r\n", "*1\r\n*3\r\n:0\r\n:1\r\n+x\r\n",
                            "*1\r\n*3\r\n:0\r\n:99999\r\n*2\r\n+h\r\n:1\r\n",
                            "*1\r\n*3\r\n:5\r\n:1\r\n*2\r\n+h\r\n:1\r\n",
                            "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n+h\r\n:0\r\n"}) {
    cluster.learn(read_redis_slots(reply(bytes), peer("asked", 9)));
    EXPECT_EQ(cluster.lanes_of(peer("seed", 1)).size(), 16U) << bytes;
  }
}

RedisReply address(const char* host, const char* port) {
  RedisReply pair;
  pair.kind = RedisReply::Kind::Array;
  for (const char* text : {host, port}) {
    pair.items.emplace_back().kind = RedisReply::Kind::Text;
    pair.items.back().text = text;
  }
  return pair;
}

RedisReply master(const char* host, const char* port, const char* epoch) {
  RedisReply pairs;
  for (const char* text : {"name", "semel", "ip", host, "port", port, "config-epoch", epoch}) {
    pairs.items.emplace_back().text = text;
  }
  return pairs;
}

TEST(SentinelWord, OfTheLatestFailOverIsBelieved) {
  const auto old = read_sentinel_word(address("a", "1"), master("a", "1", "3"));
  const auto late = read_sentinel_word(address("b", "2"), master("b", "2", "4"));
  const auto ahead = read_sentinel_word(address("c", "3"), master("b", "2", "4"));
  ASSERT_TRUE(old && late && ahead);
  EXPECT_TRUE(is_later(*late, *old));
  EXPECT_FALSE(is_later(*old, *late));
  EXPECT_TRUE(is_later(*ahead, *late));
  EXPECT_FALSE(is_later(*late, *late));
  EXPECT_EQ(ahead->peer.host, "c");
}

TEST(SentinelWord, OneThatDoesNotKnowThePrimaryNamesNone) {
  RedisReply nil;
  EXPECT_FALSE(read_sentinel_word(nil, nil));
  EXPECT_FALSE(read_sentinel_word(address("a", "0"), nil));
  EXPECT_FALSE(read_sentinel_word(address("", "1"), nil));
  EXPECT_FALSE(read_sentinel_word(address("a", "99999"), nil));
}

}  // namespace
}  // namespace semel
