#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/deadlines.h"
#include "io/task.h"

namespace semel {

/// Where to connect or listen: TCP by name or number, or a unix socket.
struct Peer {
  std::string host;
  std::uint16_t port = 0;
  std::string unix_path;  ///< Not empty: a unix socket.
};

/// How a read or a write ended.
enum class IoEnd : std::uint8_t {
  Done,
  Closed,   ///< The peer ended its side cleanly (FIN). Reads only.
  Broken,   ///< Reset, refused, or any other error.
  Expired,  ///< The deadline passed.
};

struct ReadReply {
  IoEnd end = IoEnd::Done;
  std::size_t bytes = 0;
};
struct SendReply {
  IoEnd end = IoEnd::Done;
  std::size_t bytes = 0;  ///< Handed to the kernel, also when `end` is not Done.
};

/// One stream socket with one deadline. Everything that can be done without waiting is.
/// @thread One worker's.
class Connection {
 public:
  using Socket = asio::basic_stream_socket<asio::generic::stream_protocol, Executor>;

  Connection(Socket socket, Deadlines& deadlines);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// From now on operations that are still waiting at `at` end with Expired. Replaces the one
  /// before.
  void expires_at(Deadlines::Clock::time_point at);
  /// The same, counted from the last sweep: for patience that is longer than a sweep by far.
  void expires_after(Deadlines::Clock::duration patience) {
    expires_at(deadlines_.coarse_now() + patience);
  }
  void expires_never() { deadline_.disarm(); }
  [[nodiscard]] bool expired() const { return expired_; }

  /// Waits for at least one byte, after everything else that is ready on this worker.
  /// @param room  Not empty.
  [[nodiscard]] Task<ReadReply> read_some(std::span<char> room);
  /// Waits until a read would not block, holding no buffer.
  [[nodiscard]] Task<IoEnd> wait_readable();
  /// Writes as much as the kernel takes at once. Never waits. @return Done also for a short count.
  [[nodiscard]] SendReply write_now(std::span<const asio::const_buffer> buffers);
  /// Writes everything; waits where it has to.
  /// @owns The buffers' bytes must outlive the call; the span itself is copied.
  [[nodiscard]] Task<SendReply> write_all(std::span<const asio::const_buffer> buffers);

  /// False if the peer has closed, or has sent bytes that nobody asked for: not to be used again.
  [[nodiscard]] bool is_idle_and_open();
  /// True if the peer has ended or reset its side. Bytes that wait to be read are not an end.
  [[nodiscard]] bool peer_is_gone();

  /// Ends waiting operations; they return Broken, or Expired after a deadline.
  void cancel();
  /// Ends our side only: the peer may still be reading.
  void shutdown_write();
  /// Ends the connection so that the peer sees it broken (RST).
  void reset();

  [[nodiscard]] Socket& socket() { return socket_; }

 private:
  static void on_deadline(void* self);
  /// @return Absent: nothing is here yet.
  [[nodiscard]] std::optional<ReadReply> read_now(std::span<char> room);
  [[nodiscard]] IoEnd classify(const boost::system::error_code& error) const;

  Socket socket_;
  Deadlines& deadlines_;
  Deadlines::Entry deadline_;
  bool expired_ = false;
  bool cancelled_ = false;  ///< Since the last read began: it may not be waiting yet.
};

}  // namespace semel
