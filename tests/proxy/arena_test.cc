#include "proxy/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <set>
#include <string>

namespace semel::proxy {
namespace {

void put(Buffer& buffer, std::string_view text) {
  buffer.ensure(buffer.text().size() + text.size());
  ASSERT_GE(buffer.room().size(), text.size());
  std::copy(text.begin(), text.end(), buffer.room().begin());
  buffer.commit(text.size());
}

TEST(Buffer, HoldsNothingBeforeItIsNeeded) {
  const Buffer buffer;
  EXPECT_FALSE(buffer.has_block());
  EXPECT_TRUE(buffer.is_empty());
  EXPECT_EQ(buffer.text(), "");
}

TEST(Buffer, GivesWhatArrivedAndNotWhatWasConsumed) {
  Buffer buffer;
  put(buffer, "GET / HTTP/1.1");
  buffer.consume(4);
  EXPECT_EQ(buffer.text(), "/ HTTP/1.1");
  put(buffer, "\r\n");
  EXPECT_EQ(buffer.text(), "/ HTTP/1.1\r\n");
}

TEST(Buffer, AllItsRoomIsThereAgainOnceEverythingIsConsumed) {
  Buffer buffer;
  put(buffer, "abc");
  buffer.consume(3);
  EXPECT_TRUE(buffer.is_empty());
  EXPECT_EQ(buffer.room().size(), buffer.capacity());
}

TEST(Buffer, MakesRoomByMovingBeforeItGrows) {
  Buffer buffer;
  put(buffer, std::string(Buffer::kBlock - 1, 'x') + "y");
  buffer.consume(Buffer::kBlock - 1);
  buffer.ensure(Buffer::kBlock);
  EXPECT_EQ(buffer.capacity(), Buffer::kBlock);
  EXPECT_EQ(buffer.text(), "y");
  EXPECT_EQ(buffer.room().size(), Buffer::kBlock - 1);
}

TEST(Buffer, KeepsWhatItHoldsWhenItGrows) {
  Buffer buffer;
  std::string text;
  for (int i = 0; text.size() < 3 * Buffer::kBlock; ++i) text += std::to_string(i) + ",";
  put(buffer, text.substr(0, Buffer::kBlock));
  buffer.consume(10);
  put(buffer, text.substr(Buffer::kBlock));
  EXPECT_EQ(buffer.text(), text.substr(10));
}

TEST(Buffer, EnsuringWhatIsThereMovesNothing) {
  Buffer buffer;
  put(buffer, "abc");
  const char* before = buffer.text().data();
  buffer.ensure(Buffer::kBlock);
  EXPECT_EQ(buffer.text().data(), before);
}

TEST(BufferPool, TheNextConnectionGetsTheBlockOfTheOneBefore) {
  BufferPool pool;
  Buffer first, second;
  pool.lend(first);
  const char* block = first.text().data();
  pool.take_back(first);
  EXPECT_FALSE(first.has_block());
  pool.lend(second);
  EXPECT_EQ(second.text().data(), block);
  EXPECT_EQ(second.text(), "");
  EXPECT_EQ(second.room().size(), Buffer::kBlock);
}

TEST(BufferPool, ABufferWithUnreadBytesKeepsItsBlock) {
  BufferPool pool;
  Buffer buffer;
  pool.lend(buffer);
  put(buffer, "next request");
  pool.take_back(buffer);
  EXPECT_EQ(buffer.text(), "next request");
  pool.lend(buffer);
  EXPECT_EQ(buffer.text(), "next request");
}

TEST(BufferPool, AGrownBlockIsNotKept) {
  BufferPool pool;
  Buffer grown, next;
  pool.lend(grown);
  grown.ensure(2 * Buffer::kBlock);
  pool.take_back(grown);
  EXPECT_FALSE(grown.has_block());
  pool.lend(next);
  EXPECT_EQ(next.capacity(), Buffer::kBlock);
}

TEST(BufferPool, NoTwoBuffersShareABlock) {
  BufferPool pool;
  std::list<Buffer> buffers(300);
  for (int round = 0; round < 3; ++round) {
    std::set<const char*> blocks;
    for (Buffer& buffer : buffers) {
      pool.lend(buffer);
      blocks.insert(buffer.text().data());
    }
    EXPECT_EQ(blocks.size(), buffers.size());
    for (Buffer& buffer : buffers) pool.take_back(buffer);
  }
}

}  // namespace
}  // namespace semel::proxy
