#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>

#include "config/config.h"
#include "io/tcp.h"
#include "proxy/arena.h"
#include "proxy/body_framing.h"

namespace semel::proxy {

/// The body of one request that is not whole in the head's buffer, read piece by piece. It has a
/// buffer of its own, so that views into the head stay good while it is read.
/// @thread One worker's.
class RequestBody {
 public:
  enum class End : std::uint8_t {
    More,
    Last,
    Malformed,  ///< 400.
    TooSlow,    ///< 408: past `body_timeout`, stretched by what `body_min_rate` allows.
    Gone,       ///< The client left in the middle.
  };
  struct Piece {
    End end = End::More;
    std::string_view data;  ///< Good until the next call.
  };

  /// @param behind_head  Bytes that arrived with the head; copied.
  RequestBody(Connection& client, BufferPool& buffers, const config::Limits& limits,
              const RequestHead& head, std::string_view behind_head);
  ~RequestBody() { give_back(); }
  RequestBody(const RequestBody&) = delete;
  RequestBody& operator=(const RequestBody&) = delete;

  [[nodiscard]] Task<Piece> next();
  /// From now on `seen` is shown each piece that next() gives.
  void tap(std::function<void(const Piece&)> seen) { tap_ = std::move(seen); }
  /// Ends a read that is waiting; the client's connection is not fit for another request.
  void abandon() { client_.cancel(); }
  [[nodiscard]] End end() const { return end_; }
  [[nodiscard]] bool was_started() const { return started_; }
  /// What arrived behind the body: the next request's first bytes.
  [[nodiscard]] std::string_view left_over() const { return in_.text(); }

 private:
  void give_back();
  [[nodiscard]] Piece shown(Piece piece) const {
    if (tap_) tap_(piece);
    return piece;
  }

  Connection& client_;
  BufferPool& buffers_;
  const config::Limits& limits_;
  BodyFraming framing_;
  Buffer in_;
  std::size_t to_consume_ = 0;
  std::uint64_t received_ = 0;
  std::chrono::steady_clock::time_point began_;
  End end_ = End::More;
  bool started_ = false;
  std::function<void(const Piece&)> tap_;
};

}  // namespace semel::proxy
