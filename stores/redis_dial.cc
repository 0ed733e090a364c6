#include "stores/redis_dial.h"

#include "io/dial.h"
#include "stores/redis_url.h"

namespace semel {

Task<RedisDialled> dial_redis(std::shared_ptr<LinkWatch> watch, std::shared_ptr<const TlsTerms> tls,
                              Peer peer, Deadlines::Clock::time_point until) {
  RedisDialled dialled;
  // What is armed below is armed behind the watch's back: this keeps it awake.
  Deadlines::Entry awake([](void*) {}, nullptr);
  watch->arm(awake, until);
  auto connection = co_await dial(watch->executor(), watch->deadlines(), peer, until);
  if (connection == nullptr) {
    dialled.failure = name_of(peer) + " cannot be reached";
    co_return dialled;
  }
  connection->expires_at(until);
  auto stream = std::make_unique<Stream>(std::move(connection));
  if (tls != nullptr) {
    const IoEnd end = co_await stream->secure_as_client(std::move(tls), peer.host);
    if (end != IoEnd::Done) {
      dialled.failure = name_of(peer) + ": TLS failed: " +
                        (end == IoEnd::Expired ? "it took too long" : stream->failure());
      co_return dialled;
    }
  }
  stream->connection().expires_never();
  dialled.stream = std::move(stream);
  co_return dialled;
}

}  // namespace semel
