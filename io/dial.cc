#include "io/dial.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <vector>

namespace semel {
namespace {

using Endpoint = asio::generic::stream_protocol::endpoint;

/// One name on its way through the system's resolver, which cannot be stopped: whoever has waited
/// long enough leaves it behind.
struct Lookup {
  using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;
  using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                           asio::wait_traits<std::chrono::steady_clock>, Executor>;
  explicit Lookup(Executor executor)
      : resolver(executor), ended(executor, Timer::time_point::max()), deadline(&expire, this) {}
  static void expire(void* self) { static_cast<Lookup*>(self)->ended.cancel(); }

  Resolver resolver;
  Timer ended;
  Deadlines::Entry deadline;
  std::vector<Endpoint> found;
};

Task<std::vector<Endpoint>> look_up(Executor executor, Deadlines& deadlines, Peer peer,
                                    Deadlines::Clock::time_point until) {
  auto lookup = std::make_shared<Lookup>(executor);
  lookup->resolver.async_resolve(peer.host, std::to_string(peer.port),
                                 [lookup](auto error, Lookup::Resolver::results_type results) {
                                   if (!error) {
                                     for (const auto& entry : results) {
                                       lookup->found.emplace_back(entry.endpoint());
                                     }
                                   }
                                   lookup->ended.cancel();
                                 });
  deadlines.arm(lookup->deadline, until);
  co_await lookup->ended.async_wait(kNoThrow);
  lookup->deadline.disarm();
  co_return std::move(lookup->found);
}

/// The addresses of a name, in the resolver's order. Numbers are not looked up.
Task<std::vector<Endpoint>> resolve(Executor executor, Deadlines& deadlines, Peer peer,
                                    Deadlines::Clock::time_point until) {
  std::vector<Endpoint> found;
  if (!peer.unix_path.empty()) {
    found.emplace_back(asio::local::stream_protocol::endpoint(peer.unix_path));
    co_return found;
  }
  boost::system::error_code not_numeric;
  const auto address = asio::ip::make_address(peer.host, not_numeric);
  if (!not_numeric) {
    found.emplace_back(asio::ip::tcp::endpoint(address, peer.port));
    co_return found;
  }
  co_return co_await look_up(executor, deadlines, std::move(peer), until);
}

}  // namespace

Task<std::unique_ptr<Connection>> dial(Executor executor, Deadlines& deadlines, Peer peer,
                                       Deadlines::Clock::time_point until) {
  const auto endpoints = co_await resolve(executor, deadlines, peer, until);
  for (const Endpoint& endpoint : endpoints) {
    if (Deadlines::Clock::now() >= until) break;
    Connection::Socket socket(executor);
    boost::system::error_code error;
    socket.open(endpoint.protocol(), error);
    if (error) continue;
    auto connection = std::make_unique<Connection>(std::move(socket), deadlines);
    connection->expires_at(until);
    auto [failed] = co_await connection->socket().async_connect(endpoint, kNoThrow);
    if (failed) continue;
    if (peer.unix_path.empty()) {
      connection->socket().set_option(asio::ip::tcp::no_delay(true), error);
    }
    connection->expires_never();
    co_return connection;
  }
  co_return nullptr;
}

}  // namespace semel
