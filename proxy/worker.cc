// One thread's part of the proxy: accepts, ticks, starts sessions and keeps them until they end.
#include "proxy/worker.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstdio>

#include "core/check.h"
#include "proxy/reply.h"
#include "proxy/session.h"

namespace semel::proxy {
namespace {

std::string address_of(const sockaddr_storage& peer) {
  char text[INET6_ADDRSTRLEN] = "";
  if (peer.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(peer);
    inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else if (peer.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(peer);
    inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
  }
  return text;
}

constexpr int kAcceptBatch = 64;

/// Serves one client. Owns the session, and so the connection, for as long as it runs.
Task<> serve(Worker& worker, std::unique_ptr<Connection> client, std::string address) {
  Session session(worker, std::move(client), std::move(address));
  co_await session.run();
}

/// Answers a connection that there is no room for.
Task<> turn_away(std::unique_ptr<Connection> client) {
  std::string scratch;
  Reply reply(*client, scratch);
  Problem overloaded;
  overloaded.type = ProblemType::Overloaded;
  overloaded.dispatched = false;
  overloaded.retry_after_seconds = 1;
  const GuardWords none;
  co_await reply.problem(overloaded, none);
  client->shutdown_write();
}

}  // namespace

Worker::Worker(Site& shared, std::size_t index, std::shared_ptr<const Edition> edition)
    : site(shared),
      metrics(shared.metrics.shard(index)),
      access_log(shared.access_log_fd, metrics.access_log_dropped),
      releases(*this),
      spawn([this](Task<> task) { start(std::move(task)); }),
      tick_timer_(io_.get_executor()),
      index_(index),
      is_unix_(!edition->config.listen.address.unix_path.empty()),
      outfit_(fit(std::move(edition))) {
  gate_.on_empty([this] { finish_if_drained(); });
}

Worker::~Worker() { access_log.flush(); }

std::shared_ptr<Outfit> Worker::fit(std::shared_ptr<const Edition> edition) {
  auto counters = site.metrics.counters(index_, edition->table.routes());
  counters.push_back(&metrics.unmatched);
  return std::make_shared<Outfit>(std::move(edition), executor(), deadlines, buffers,
                                  std::move(counters));
}

void Worker::adopt(std::shared_ptr<const Edition> edition, std::function<void()> taken) {
  asio::post(io_, [this, next = fit(std::move(edition)), taken = std::move(taken)] {
    outfit_->retire();
    outfit_ = next;
    taken();
  });
}

void Worker::listen(int fd) {
  listening_ =
      std::make_unique<asio::posix::basic_stream_descriptor<Executor>>(io_.get_executor(), fd);
}

void Worker::run() {
  asio::co_spawn(io_, accept_loop(), asio::detached);
  asio::co_spawn(io_, tick(), asio::detached);
  io_.run();
}

void Worker::start(Task<> task) {
  asio::co_spawn(io_, std::move(task), [pass = gate_.enter()](std::exception_ptr failure) {
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "semel: a session failed: %s\n", error.what());
    }
  });
}

Task<> Worker::accept_loop() {
  using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
  while (listening_ != nullptr && listening_->is_open()) {
    auto [error] = co_await listening_->async_wait(Descriptor::wait_read, kNoThrow);
    if (error) co_return;
    // A batch at a time: those who are here already are not to wait for all who come.
    for (int i = 0; i < kAcceptBatch; ++i) {
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      const int fd = ::accept4(listening_->native_handle(), reinterpret_cast<sockaddr*>(&peer),
                               &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        admit(fd, address_of(peer));
        continue;
      }
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        // Out of descriptors: those in use must end first. The backlog holds the rest.
        Timer pause(executor(), std::chrono::milliseconds(100));
        co_await pause.async_wait(kNoThrow);
      }
      if (errno == ECONNABORTED || errno == EINTR) continue;
      break;
    }
  }
}

void Worker::admit(int fd, std::string address) {
  if (!is_unix_) {
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const int family =
      is_unix_ ? AF_UNIX : (address.find(':') == std::string::npos ? AF_INET : AF_INET6);
  const asio::generic::stream_protocol protocol(family, is_unix_ ? 0 : IPPROTO_TCP);
  Connection::Socket socket(executor());
  boost::system::error_code unwatched;
  socket.assign(protocol, fd, unwatched);
  if (unwatched) {
    // The system watches no further descriptor. The next connection may find room again.
    ::close(fd);
    std::fprintf(stderr, "semel: a connection was turned away: %s\n", unwatched.message().c_str());
    return;
  }
  auto client = std::make_unique<Connection>(std::move(socket), deadlines);
  if (!site.connections.take(address)) {
    start(turn_away(std::move(client)));
    return;
  }
  start(serve(*this, std::move(client), std::move(address)));
}

Task<> Worker::tick() {
  std::uint64_t ticks = 0;
  while (!(draining_ && gate_.held() == 0)) {
    tick_timer_.expires_after(kTick);
    co_await tick_timer_.async_wait(kNoThrow);
    const auto now = ending_ ? Deadlines::Clock::time_point::max() : Deadlines::Clock::now();
    deadlines.sweep(now);
    access_log.flush();
    if (++ticks % 50 == 0) {
      outfit_->sweep(Deadlines::Clock::now());
    }
  }
  access_log.flush();
  // What may still be waited for, a name server that does not answer, concerns nobody any more.
  io_.stop();
}

void Worker::drain() {
  asio::post(io_, [this] {
    draining_ = true;
    if (listening_ != nullptr) listening_->close();
    for (Guest& guest : guests_) {
      if (guest.is_idle) guest.connection->cancel();
    }
    finish_if_drained();
  });
}

void Worker::expire_all() {
  asio::post(io_, [this] { ending_ = true; });
}

void Worker::finish_if_drained() {
  if (draining_ && gate_.held() == 0) tick_timer_.cancel();
}

}  // namespace semel::proxy
