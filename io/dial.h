#pragma once

#include <memory>

#include "io/tcp.h"

namespace semel {

/// Opens a stream to `peer`, TCP_NODELAY set, TCP Fast Open off.
/// @param peer  By value: the coroutine may outlive the caller's copy.
/// @return Null when the name does not resolve, every address refuses, or `until` passes: proof
/// that
///         nothing was sent.
[[nodiscard]] Task<std::unique_ptr<Connection>> dial(Executor executor, Deadlines& deadlines,
                                                     Peer peer, Deadlines::Clock::time_point until);

}  // namespace semel
