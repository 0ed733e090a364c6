// The link that breaks breaks as it says: what other tests conclude from it rests on that.
#include "tests/support/faulty_link.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>

namespace semel::testing {
namespace {

using How = FaultyLink::How;
using Way = FaultyLink::Way;

constexpr milliseconds kPatience{10'000};

/// A link with a socket at each end.
class FaultyLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dialled = Socket::connect_to(link.port(), Deadline(kPatience));
    ASSERT_TRUE(eventually([&] {
      target = Socket(::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      return target.is_open();
    }));
  }

  /// Everything that comes before the stream goes on otherwise, and how it does.
  static std::pair<std::string, Incoming> read_all(const Socket& socket,
                                                   milliseconds patience = kPatience) {
    std::string text;
    for (;;) {
      const Incoming news = socket.read_some(text, Deadline(patience));
      if (news != Incoming::Bytes) return {text, news};
    }
  }
  static bool reads(const Socket& socket, const std::string& text) {
    std::string got;
    while (got.size() < text.size()) {
      if (socket.read_some(got, Deadline(kPatience)) != Incoming::Bytes) return false;
    }
    return got == text;
  }
  static void send(const Socket& socket, const std::string& text) {
    EXPECT_TRUE(socket.send_all(text, Deadline(kPatience)));
  }

  const std::uint16_t port = free_port();
  const Socket listener = Socket::listen_on(port);
  FaultyLink link{port};
  Socket dialled;
  Socket target;
};

using Ending = std::pair<std::string, Incoming>;

TEST_F(FaultyLinkTest, BytesAndEndsPassBothWays) {
  send(dialled, "ping");
  EXPECT_TRUE(reads(target, "ping"));
  send(target, "pong");
  EXPECT_TRUE(reads(dialled, "pong"));
  EXPECT_EQ(link.passed(Way::Forth), 4U);
  EXPECT_EQ(link.passed(Way::Back), 4U);
  dialled.half_close();
  EXPECT_EQ(read_all(target), Ending("", Incoming::Finished));
  send(target, "bye");
  target.close();
  EXPECT_EQ(read_all(dialled), Ending("bye", Incoming::Finished));
  EXPECT_FALSE(link.has_broken());
}

TEST_F(FaultyLinkTest, AResetPasses) {
  dialled.reset();
  EXPECT_EQ(read_all(target), Ending("", Incoming::Reset));
}

TEST_F(FaultyLinkTest, ClosedAtAByteBothEndsReadAnEnd) {
  link.arm({Way::Forth, How::Close, 3});
  send(dialled, "request");
  EXPECT_EQ(read_all(target), Ending("req", Incoming::Finished));
  EXPECT_EQ(read_all(dialled), Ending("", Incoming::Finished));
  EXPECT_TRUE(link.has_broken());
  EXPECT_EQ(link.passed(Way::Forth), 3U);
  send(target, "lost");
  EXPECT_EQ(read_all(dialled), Ending("", Incoming::Finished));
}

TEST_F(FaultyLinkTest, ResetAtAByteBothEndsSeeIt) {
  link.arm({Way::Back, How::Reset, 4});
  send(dialled, "request");
  EXPECT_TRUE(reads(target, "request"));
  send(target, "response");
  EXPECT_EQ(read_all(dialled), Ending("resp", Incoming::Reset));
  EXPECT_EQ(read_all(target), Ending("", Incoming::Reset));
}

TEST_F(FaultyLinkTest, HalfClosedAtAByteTheOtherWayGoesOn) {
  link.arm({Way::Forth, How::HalfClose, 7});
  send(dialled, "request and more");
  EXPECT_EQ(read_all(target), Ending("request", Incoming::Finished));
  send(target, "response");
  EXPECT_TRUE(reads(dialled, "response"));
  target.close();
  EXPECT_EQ(read_all(dialled), Ending("", Incoming::Finished));
}

TEST_F(FaultyLinkTest, StalledAtAByteNothingElsePassesThatWayUntilItIsDisarmed) {
  link.arm({Way::Back, How::Stall, 1});
  send(target, "response");
  EXPECT_TRUE(reads(dialled, "r"));
  EXPECT_EQ(read_all(dialled, milliseconds{50}), Ending("", Incoming::TimedOut));
  send(dialled, "still here");
  EXPECT_TRUE(reads(target, "still here"));
  EXPECT_TRUE(link.disarm());
  EXPECT_NE(read_all(dialled).second, Incoming::TimedOut);
  EXPECT_NE(read_all(target).second, Incoming::TimedOut);
}

TEST_F(FaultyLinkTest, AtZeroItBreaksInPlaceOfTheFirstByte) {
  link.arm({Way::Forth, How::Close, 0});
  send(target, "passes");
  EXPECT_TRUE(reads(dialled, "passes"));
  EXPECT_FALSE(link.has_broken());
  send(dialled, "x");
  EXPECT_EQ(read_all(target), Ending("", Incoming::Finished));
  EXPECT_TRUE(link.has_broken());
}

TEST_F(FaultyLinkTest, ItBreaksOnceAndNotWhenItIsDisarmed) {
  link.arm({Way::Forth, How::Reset, 2});
  EXPECT_FALSE(link.disarm());
  send(dialled, "request");
  EXPECT_TRUE(reads(target, "request"));
}

TEST_F(FaultyLinkTest, InPiecesTheSameBytesPass) {
  link.pace({.piece_max = 3, .delay = milliseconds{1}});
  const auto began = std::chrono::steady_clock::now();
  send(dialled, "request");
  EXPECT_TRUE(reads(target, "request"));
  // At least three pieces, each after its delay.
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds{2});
}

TEST(FaultyLink, WhereNobodyListensTheOneWhoDialsIsReset) {
  // Bound and not listening: it refuses, and nobody else gets it meanwhile.
  const Socket held(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(held.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(held.fd(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  const FaultyLink link(ntohs(address.sin_port));
  const Socket dialled = Socket::connect_to(link.port(), Deadline(kPatience));
  std::string text;
  // The reset may come before the one who dials has noticed that it was connected.
  EXPECT_TRUE(!dialled.is_open() ||
              dialled.read_some(text, Deadline(kPatience)) == Incoming::Reset);
}

TEST_F(FaultyLinkTest, WhatIsHeldPassesLaterAndItsEndToo) {
  send(dialled, "before");
  EXPECT_TRUE(reads(target, "before"));
  link.hold();
  send(dialled, "held");
  dialled.half_close();
  EXPECT_EQ(read_all(target, milliseconds{50}), Ending("", Incoming::TimedOut));
  send(target, "answer");
  EXPECT_EQ(read_all(dialled, milliseconds{50}), Ending("", Incoming::TimedOut));
  link.let_pass();
  EXPECT_EQ(read_all(target), Ending("held", Incoming::Finished));
  EXPECT_TRUE(reads(dialled, "answer"));
}

}  // namespace
}  // namespace semel::testing
