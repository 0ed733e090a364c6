#include "proxy/body_framing.h"

#include <gtest/gtest.h>

#include <string>

namespace semel::proxy {
namespace {

using State = BodyFraming::State;

struct Taken {
  State state = State::More;
  std::string data;
  std::string rest;  ///< What the body did not need.
};

/// Gives `wire` in pieces of `step` bytes, joined with what could not be used alone.
Taken take_all(BodyFraming framing, std::string_view wire, std::size_t step) {
  Taken all;
  std::string waiting;
  while (true) {
    const BodyFraming::Step taken = framing.take(waiting);
    all.state = taken.state;
    all.data += taken.data;
    waiting.erase(0, taken.consumed);
    if (taken.state != State::More) break;
    if (taken.consumed != 0) continue;
    if (wire.empty()) break;
    waiting += wire.substr(0, step);
    wire.remove_prefix(std::min(step, wire.size()));
  }
  all.rest = waiting + std::string(wire);
  return all;
}

class BodyFramingBySteps : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Bytes, BodyFramingBySteps, ::testing::Values(1, 2, 3, 7, 1000));

TEST_P(BodyFramingBySteps, ALengthEndsWithItsLastByteAndLeavesTheNextMessage) {
  const Taken taken = take_all({Framing::Length, 5}, "helloGET / HTTP/1.1", GetParam());
  EXPECT_EQ(taken.state, State::Last);
  EXPECT_EQ(taken.data, "hello");
  EXPECT_EQ(taken.rest, "GET / HTTP/1.1");
}

TEST_P(BodyFramingBySteps, ALengthIsNotMetByLess) {
  EXPECT_EQ(take_all({Framing::Length, 6}, "hello", GetParam()).state, State::More);
}

TEST_P(BodyFramingBySteps, ChunksEndBehindTheirTrailersAndLeaveTheNextMessage) {
  const Taken taken = take_all({Framing::Chunked, 0},
                               "5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nT: 1\r\n\r\nGET", GetParam());
  EXPECT_EQ(taken.state, State::Last);
  EXPECT_EQ(taken.data, "hello world");
  EXPECT_EQ(taken.rest, "GET");
}

TEST_P(BodyFramingBySteps, ChunksWithoutTheLastOneAreNotWhole) {
  EXPECT_EQ(take_all({Framing::Chunked, 0}, "5\r\nhello\r\n", GetParam()).state, State::More);
}

TEST_P(BodyFramingBySteps, WhatIsNoChunkIsMalformed) {
  EXPECT_EQ(take_all({Framing::Chunked, 0}, "5\r\nhelloX", GetParam()).state, State::Malformed);
  EXPECT_EQ(take_all({Framing::Chunked, 0}, "hello", GetParam()).state, State::Malformed);
}

TEST_P(BodyFramingBySteps, UntilCloseNoByteIsTheLast) {
  BodyFraming framing(Framing::UntilClose, 0);
  EXPECT_TRUE(framing.ends_at_close());
  const Taken taken = take_all(framing, "0\r\n\r\nand on", GetParam());
  EXPECT_EQ(taken.state, State::More);
  EXPECT_EQ(taken.data, "0\r\n\r\nand on");
}

TEST(BodyFraming, WithoutABodyNothingIsTaken) {
  for (BodyFraming framing :
       {BodyFraming(), BodyFraming(Framing::None, 7), BodyFraming(Framing::Length, 0)}) {
    const BodyFraming::Step step = framing.take("GET");
    EXPECT_EQ(step.state, State::Last);
    EXPECT_EQ(step.consumed, 0U);
    EXPECT_EQ(step.data, "");
    EXPECT_FALSE(framing.ends_at_close());
  }
}

TEST(BodyFraming, ALengthBeyondFourGigabytesIsCounted) {
  BodyFraming framing(Framing::Length, (std::uint64_t{1} << 32) + 1);
  EXPECT_EQ(framing.take("x").state, State::More);
  EXPECT_EQ(framing.take("y").state, State::More);
}

}  // namespace
}  // namespace semel::proxy
