#include "stores/redis_dial.h"

#include <boost/asio/ip/address.hpp>

#include "io/dial.h"
#include "stores/redis_url.h"

namespace semel {
namespace {

bool is_address(const std::string& host) {
  boost::system::error_code is_none;
  static_cast<void>(asio::ip::make_address(host, is_none));
  return !is_none;
}

}  // namespace

Task<RedisDialled> dial_redis(std::shared_ptr<LinkWatch> watch, std::shared_ptr<const TlsTerms> tls,
                              Peer peer, Deadlines::Clock::time_point until) {
  RedisDialled dialled;
  // What is armed below is armed behind the watch's back: this keeps it awake.
  Deadlines::Entry awake([](void*) {}, nullptr);
  watch->arm(awake, until);
  auto connection = co_await dial(watch->executor(), watch->deadlines(), peer, until);
  if (connection == nullptr) {
    dialled.failure = name_of(peer) + " cannot be reached";
    if (!is_address(peer.host)) dialled.failure += ", or its name is not known here";
    co_return dialled;
  }
  connection->expires_at(until);
  auto stream = std::make_unique<Stream>(std::move(connection));
  if (tls != nullptr) {
    const IoEnd end = co_await stream->secure_as_client(std::move(tls), peer.host);
    if (end != IoEnd::Done) {
      dialled.failure =
          name_of(peer) + ": TLS failed: " +
          (end == IoEnd::Expired ? "it took too long, as where a server speaks none on that port"
                                 : stream->failure());
      co_return dialled;
    }
  }
  stream->connection().expires_never();
  dialled.stream = std::move(stream);
  co_return dialled;
}

}  // namespace semel
