#include "io/dial.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <vector>

namespace semel {
namespace {

using Endpoint = asio::generic::stream_protocol::endpoint;

/// The addresses of a name, in the resolver's order. Numbers are not looked up.
Task<std::vector<Endpoint>> resolve(Executor executor, Peer peer) {
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
  asio::ip::basic_resolver<asio::ip::tcp, Executor> resolver(executor);
  const std::string port = std::to_string(peer.port);
  auto [error, results] = co_await resolver.async_resolve(peer.host, port, kNoThrow);
  if (!error) {
    for (const auto& entry : results) found.emplace_back(entry.endpoint());
  }
  co_return found;
}

}  // namespace

Task<std::unique_ptr<Connection>> dial(Executor executor, Deadlines& deadlines, Peer peer,
                                       Deadlines::Clock::time_point until) {
  const auto endpoints = co_await resolve(executor, peer);
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
