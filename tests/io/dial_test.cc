#include "io/dial.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>

#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "tests/io/loop.h"
#include "tests/support/temp_folder.h"

namespace {

constexpr const char* kSlowName = "slow.invalid";
std::mutex name_server;  ///< Held: it does not answer for kSlowName.

}  // namespace

/// Stands before the system's, so that a test decides when a name server answers.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  if (name != nullptr && std::strcmp(name, kSlowName) == 0) {
    const std::lock_guard answered(name_server);
    return EAI_AGAIN;
  }
  static const auto real =
      reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  return real(name, service, hints, found);
}

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing::Loop;
using testing::Socket;

constexpr auto kPatience = 30s;

Peer at_port(std::string host, std::uint16_t port) {
  Peer peer;
  peer.host = std::move(host);
  peer.port = port;
  return peer;
}

Peer at_path(std::string path) {
  Peer peer;
  peer.unix_path = std::move(path);
  return peer;
}

/// True if somebody waits to be accepted.
bool has_visitor(const Socket& listener) {
  pollfd wait{listener.fd(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

/// A socket whose connect was only begun.
Socket begin_connect(std::uint16_t port) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  static_cast<void>(::connect(socket.fd(), reinterpret_cast<sockaddr*>(&to), sizeof to));
  return socket;
}

class Dial : public ::testing::Test {
 protected:
  Task<std::unique_ptr<Connection>> to(Peer peer, Deadlines::Clock::duration patience = kPatience) {
    return dial(loop.executor(), loop.deadlines, std::move(peer),
                Deadlines::Clock::now() + patience);
  }
  Loop loop;
  std::uint16_t port = testing::free_port();
};

TEST_F(Dial, ReachesWhoeverListensAndSendsSmallPiecesAtOnce) {
  const Socket listener = Socket::listen_on(port);
  const auto connection = loop.run(to(at_port("127.0.0.1", port)));
  ASSERT_NE(connection, nullptr);
  EXPECT_TRUE(has_visitor(listener));
  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  ASSERT_EQ(::getsockopt(connection->socket().native_handle(), IPPROTO_TCP, TCP_NODELAY, &no_delay,
                         &size),
            0);
  EXPECT_NE(no_delay, 0);
}

TEST_F(Dial, LeavesNoDeadlineOnTheConnection) {
  const Socket listener = Socket::listen_on(port);
  const auto connection = loop.run(to(at_port("127.0.0.1", port)));
  ASSERT_NE(connection, nullptr);
  loop.pass(Deadlines::Clock::now() + 2 * kPatience);
  EXPECT_FALSE(connection->expired());
}

TEST_F(Dial, ANameIsLookedUp) {
  const Socket listener = Socket::listen_on(port);
  // Where `localhost` also means ::1, that address refuses and the next one is tried.
  EXPECT_NE(loop.run(to(at_port("localhost", port))), nullptr);
  EXPECT_TRUE(has_visitor(listener));
}

TEST_F(Dial, WhoRefusesIsNotReached) {
  EXPECT_EQ(loop.run(to(at_port("127.0.0.1", port))), nullptr);
}

TEST_F(Dial, ANameThatDoesNotResolveIsNotReached) {
  // A label has at most 63 bytes (RFC 1035 2.3.4): no name server need be asked.
  EXPECT_EQ(loop.run(to(at_port(std::string(64, 'a') + ".invalid", port))), nullptr);
}

TEST_F(Dial, ANameServerThatDoesNotAnswerIsGivenUpAtTheDeadline) {
  std::unique_lock silent(name_server);
  const auto until = Deadlines::Clock::now() + kPatience;
  const auto dialling =
      loop.start(dial(loop.executor(), loop.deadlines, at_port(kSlowName, port), until));
  loop.pass(until - 1ms);
  ASSERT_FALSE(dialling.has_ended());
  loop.pass(until);
  EXPECT_TRUE(dialling.has_ended());
  // Its late answer finds nobody who waits.
  silent.unlock();
  EXPECT_EQ(loop.wait_for(dialling), nullptr);
  loop.io.restart();
  loop.io.run();
}

TEST_F(Dial, AfterTheDeadlineNobodyIsVisited) {
  const Socket listener = Socket::listen_on(port);
  EXPECT_EQ(loop.run(to(at_port("127.0.0.1", port), -1ms)), nullptr);
  EXPECT_FALSE(has_visitor(listener));
}

TEST_F(Dial, WhoDoesNotAnswerIsGivenUpAtTheDeadline) {
  // Nobody accepts, and the queue has room for one: whoever comes later hears nothing.
  const Socket listener = Socket::listen_on(port, 0);
  std::vector<Socket> queue;
  for (int i = 0; i < 4; ++i) queue.push_back(begin_connect(port));
  const auto until = Deadlines::Clock::now() + kPatience;
  const auto dialling =
      loop.start(dial(loop.executor(), loop.deadlines, at_port("127.0.0.1", port), until));
  loop.pass(until - 1ms);
  ASSERT_FALSE(dialling.has_ended());
  loop.pass(until);
  ASSERT_TRUE(dialling.has_ended());
  EXPECT_EQ(dialling.value(), nullptr);
}

TEST_F(Dial, ReachesAUnixSocket) {
  const testing::TempFolder folder;
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const std::string path = folder.file("tool.sock");
  ASSERT_LT(path.size(), sizeof at.sun_path);
  path.copy(at.sun_path, path.size());
  const Socket listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.fd(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(listener.fd(), 1), 0);
  const auto connection = loop.run(to(at_path(path)));
  ASSERT_NE(connection, nullptr);
  EXPECT_TRUE(has_visitor(listener));
  EXPECT_TRUE(connection->is_idle_and_open());
}

TEST_F(Dial, AUnixSocketThatIsNotThereIsNotReached) {
  const testing::TempFolder folder;
  EXPECT_EQ(loop.run(to(at_path(folder.file("nobody.sock")))), nullptr);
}

}  // namespace
}  // namespace semel
