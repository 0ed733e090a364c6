#pragma once

#include <memory>
#include <string>

#include "io/stream.h"
#include "stores/link_watch.h"

namespace semel {

/// A stream to a server, or why there is none.
struct RedisDialled {
  std::unique_ptr<Stream> stream;
  std::string failure;
};

/// @param tls  Null: plain. Else the peer has to prove that it is `peer.host`.
[[nodiscard]] Task<RedisDialled> dial_redis(std::shared_ptr<LinkWatch> watch,
                                            std::shared_ptr<const TlsTerms> tls, Peer peer,
                                            Deadlines::Clock::time_point until);

}  // namespace semel
