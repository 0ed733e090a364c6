#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "io/random.h"
#include "io/spawn.h"
#include "stores/redis_sentinels.h"
#include "stores/redis_site.h"
#include "stores/redis_wire.h"

namespace semel {

/// One worker's connection to one server, made again and again for as long as somebody wants it.
///
/// A call that comes while the first attempt after a loss is under way waits for it; while the
/// server is known to be down it fails at once. Where another worker has reached it since, it is
/// not known to be down: whoever asks there is answered in one way by all of them.
/// @thread One worker's.
class RedisNode : public std::enable_shared_from_this<RedisNode> {
 public:
  /// @param peer  Absent: whoever the topology says holds lane 0 at the moment.
  RedisNode(std::shared_ptr<LinkWatch> watch, std::shared_ptr<RedisSite> site,
            std::optional<Peer> peer);
  ~RedisNode();
  RedisNode(const RedisNode&) = delete;
  RedisNode& operator=(const RedisNode&) = delete;

  /// The call is settled later: answered, or with a fault.
  void submit(RedisCall& call, RedisCall::Clock::time_point now);
  /// The server is not what it was: the connection is closed and made anew.
  void renew();
  /// For good.
  void close();
  /// Whom it speaks to, or tries to.
  [[nodiscard]] const Peer& peer() const { return peer_; }

 private:
  enum class State : std::uint8_t {
    Idle,        ///< Nobody has asked.
    Connecting,  ///< Nothing is known: calls wait.
    Up,
    Down,  ///< The last attempt failed; calls fail until one succeeds.
    Closed,
  };
  static constexpr std::chrono::milliseconds kBackoffMin{50};
  static constexpr std::chrono::milliseconds kBackoffMax{500};

  static Task<> live(std::shared_ptr<RedisNode> self);
  /// One attempt. @return Why calls fail; absent: there is a connection, and it is let through.
  [[nodiscard]] Task<std::optional<Fault>> connect();
  [[nodiscard]] Task<std::optional<Fault>> greet(RedisCall::Clock::time_point until);
  /// Of a connection that its peer ended before it was through; else empty.
  [[nodiscard]] std::string trouble_of_tls() const;
  [[nodiscard]] Task<std::optional<Fault>> admit(RedisFacts facts,
                                                 RedisCall::Clock::time_point until);
  /// Until the connection is lost; looks at the server's facts now and then.
  [[nodiscard]] Task<> stay();
  [[nodiscard]] Task<> look_again();
  [[nodiscard]] Task<> end_wire();
  [[nodiscard]] Task<> wait_to_try_again();
  [[nodiscard]] Task<> sleep_until(RedisCall::Clock::time_point at);
  void wake_up();

  /// False in a cluster for a node that nobody expects anything of any more.
  [[nodiscard]] bool is_wanted() const;
  [[nodiscard]] bool has_moved();
  [[nodiscard]] bool is_reached_elsewhere() const;
  /// What the site knows it by.
  [[nodiscard]] std::string known_as() const;
  void start_wire(std::unique_ptr<Stream> stream);
  void open_up();
  void go_down(Fault fault);
  void wait_in_line(RedisCall& call);
  void fail_waiting(Fault fault);
  void abandon_waiting();
  static void on_impatient(void* self);
  void drop_impatient();

  const std::shared_ptr<LinkWatch> watch_;
  const std::shared_ptr<RedisSite> site_;
  const std::optional<Peer> fixed_;
  RedisSentinels sentinels_;
  Peer peer_;
  State state_ = State::Idle;
  bool is_living_ = false;
  std::shared_ptr<RedisWire> wire_;
  bool is_wire_over_ = true;
  std::uint64_t wires_ = 0;         ///< Made so far.
  std::uint64_t evicted_ = 0;       ///< By the server, when the connection was let through.
  std::uint64_t seen_version_ = 0;  ///< Of the topology, when the peer was last compared.
  std::vector<RedisCall*> waiting_;
  Deadlines::Entry impatient_{&RedisNode::on_impatient, this};
  Fault fault_ = Fault::StoreUnreachable;  ///< While Down.
  RedisCall::Clock::time_point down_since_{};
  std::chrono::milliseconds backoff_{kBackoffMin};
  RedisCall::Clock::time_point retry_at_{};
  Timer* sleeping_ = nullptr;  ///< Of live(), while it sleeps.
  RandomBits random_;
};

}  // namespace semel
