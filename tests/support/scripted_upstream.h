#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/http_message.h"

namespace semel::testing {

/// One request as the upstream read it.
struct ReceivedRequest {
  std::string head;  ///< Raw, with the empty line.
  std::string method;
  std::string target;
  HeaderLines headers;
  std::string body;  ///< Without the chunked coding.
  bool is_chunked = false;
  int connection = 0;  ///< Counted from 1 in the order of accept.

  [[nodiscard]] std::vector<std::string> all(std::string_view name) const {
    return values_of(headers, name);
  }
};

class ScriptedUpstream;

/// The upstream's turn on one request: what the script may do. Once it returns, the connection is
/// kept for the next request unless the script has ended it.
class Turn {
 public:
  [[nodiscard]] const ReceivedRequest& request() const { return request_; }
  /// Which request of this upstream it is, counted from 1.
  [[nodiscard]] int number() const { return number_; }

  /// Lets the side effect happen: what the promise allows once per key.
  void commit();
  /// A scripted delay; ends early when the upstream is stopped.
  void wait(milliseconds delay);
  /// Waits until the test says `let_go`.
  void wait_until_let_go();
  /// Waits until the test has said `step` so often, or `let_go`.
  void wait_for_step(int count);
  /// Waits until the other side goes away or the upstream is stopped.
  void hang();
  void send(std::string_view bytes);
  /// Sends the bytes one by one with a delay before each, for as long as somebody takes them.
  void drip(std::string_view bytes, milliseconds delay);
  void finish();  ///< FIN.
  void reset();   ///< RST.

 private:
  friend class ScriptedUpstream;
  Turn(ScriptedUpstream& upstream, Socket& socket) : upstream_(upstream), socket_(socket) {}

  ScriptedUpstream& upstream_;
  Socket& socket_;
  ReceivedRequest request_;
  int number_ = 0;
};

using Script = std::function<void(Turn&)>;

/// An HTTP/1.1 server on a port of 127.0.0.1, or on a unix socket, that does what the test's script
/// says, one thread a connection, and remembers what it was asked.
///
/// @thread All members may be called from the test while requests are served; scripts run on the
///         connections' threads.
class ScriptedUpstream {
 public:
  enum class AtAccept : std::uint8_t { Serve, Finish, Reset };

  /// Answers 200 and commits, until told otherwise.
  explicit ScriptedUpstream(std::uint16_t port = free_port()) : ScriptedUpstream(port, {}) {}
  /// The same on a unix socket of that path; its port is 0.
  explicit ScriptedUpstream(std::string unix_path) : ScriptedUpstream(0, std::move(unix_path)) {}
  ~ScriptedUpstream();
  ScriptedUpstream(const ScriptedUpstream&) = delete;
  ScriptedUpstream& operator=(const ScriptedUpstream&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

  void script(Script script);
  /// What happens to connections accepted from now on, before a byte is read.
  void at_accept(AtAccept act) { at_accept_ = act; }
  /// Runs the script once the head is read, before the body is.
  void answer_before_body() { before_body_ = true; }
  /// Ends connections that bring no request for so long.
  void close_idle_after(milliseconds idle) { idle_ms_ = static_cast<int>(idle.count()); }

  /// Ends every `wait_until_let_go`, present and future.
  void let_go();
  /// Lets a script that waits for its next step go one step further.
  void step();

  /// Closes the listening socket: connections are refused until `listen_again`.
  void refuse();
  void listen_again();

  [[nodiscard]] int requests() const;
  [[nodiscard]] int effects() const { return effects_; }
  [[nodiscard]] int connections() const { return connections_; }
  /// How many of them it has not ended yet.
  [[nodiscard]] int open_connections() const { return open_; }
  [[nodiscard]] ReceivedRequest received(int number) const;  ///< Counted from 1.
  [[nodiscard]] ReceivedRequest last_received() const;
  /// @return false if fewer came within `patience`.
  [[nodiscard]] bool sees_requests(int count, milliseconds patience = milliseconds{10'000});
  [[nodiscard]] bool sees_effects(int count, milliseconds patience = milliseconds{10'000});

 private:
  friend class Turn;
  ScriptedUpstream(std::uint16_t port, std::string unix_path);
  /// The thread of one connection.
  struct Server {
    std::thread thread;
    std::atomic<bool> is_over{false};
  };
  void accept_connections();
  /// Gives back the threads of connections that have ended: a long test has tens of thousands.
  void join_those_that_are_over();
  void serve(Socket& socket, int connection);
  bool read_body(MessageReader& reader, ReceivedRequest& request);
  Script note(const ReceivedRequest& request, int& number);
  Deadline patience() const { return Deadline(milliseconds{60'000}); }

  const std::uint16_t port_;
  const std::string unix_path_;
  int stop_pipe_[2] = {-1, -1};   ///< Readable once everything is to end.
  int pause_pipe_[2] = {-1, -1};  ///< Readable once the listener is to close.
  std::atomic<AtAccept> at_accept_{AtAccept::Serve};
  std::atomic<bool> before_body_{false};
  std::atomic<int> idle_ms_{60'000};
  std::atomic<int> effects_{0};
  std::atomic<int> connections_{0};
  std::atomic<int> open_{0};

  mutable std::mutex mutex_;  ///< Guards what follows.
  std::condition_variable changed_;
  Script script_;
  bool is_let_go_ = false;
  int steps_ = 0;
  std::vector<ReceivedRequest> received_;
  std::list<Server> servers_;

  Socket listener_;
  std::thread acceptor_;
};

/// A port on which connections are neither accepted nor refused: its queue is full.
class Blackhole {
 public:
  Blackhole();
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  std::uint16_t port_;
  Socket listener_;
  std::vector<Socket> queue_;
};

}  // namespace semel::testing
