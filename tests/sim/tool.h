#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/sim/http.h"
#include "tests/sim/world.h"

namespace semel::sim {

/// The tool behind the proxies: one server that takes effects and counts them by what the client
/// meant, which it reads from the body. What it does with a request its mood decides.
class Tool {
 public:
  explicit Tool(World& world);
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  void open();
  /// Nobody listens, and what was connected is broken off.
  void shut();

  /// A byte of a request of this call has left a proxy on this connection.
  void expect(std::uint32_t line, std::uint32_t call);
  /// Bytes have arrived at a proxy's end of a connection to the tool.
  void arrived(const EndPtr& proxy_end);
  /// How often it took effect for this key.
  [[nodiscard]] unsigned effects(std::uint32_t key) const;
  /// Whether a request of this key may still take effect.
  [[nodiscard]] bool may_yet(std::uint32_t key) const;

 private:
  struct Caller;
  /// An answer of which not all bytes have arrived.
  struct Underway {
    std::uint64_t whole_at = 0;  ///< Bytes on its connection, once it is whole.
    bool ends_at_close = false;  ///< And then the connection's end.
    Happening noted;
  };
  void accept(const EndPtr& end);
  void on_news(const std::shared_ptr<Caller>& caller);
  void hear(const std::shared_ptr<Caller>& caller);
  void decide(const std::shared_ptr<Caller>& caller);
  /// The client's key, read from route, tenant and item: all that makes a call another.
  [[nodiscard]] std::uint32_t meant_by(const MessageReader& request) const;
  void act(const std::shared_ptr<Caller>& caller, Mood mood);
  void take_effect(Caller& caller);
  /// How an answer is given.
  struct Answer {
    enum class Framing : std::uint8_t { Length, Chunked, UntilClose };
    std::uint16_t status = 200;
    Framing framing = Framing::Length;
    std::size_t padding = 0;
    Time delay{0};
    Time pause{0};  ///< Before its second half.
    bool cut = false;
    bool is_stream = false;
  };
  void answer(const std::shared_ptr<Caller>& caller, const Answer& how);
  void begin_answer(const std::shared_ptr<Caller>& caller, const Answer& how);
  void end_answer(const std::shared_ptr<Caller>& caller, const Answer& how, const Happening& noted);
  void flush(const std::shared_ptr<Caller>& caller);
  void next_request(const std::shared_ptr<Caller>& caller);
  void leave(const std::shared_ptr<Caller>& caller);
  void settled(const Caller& caller);
  void describe(Mood mood, Answer& how, const Caller& caller);
  [[nodiscard]] Mood mood();
  /// Between the route's patience and the end of `settle`, and somewhat longer.
  [[nodiscard]] Time too_long(const Caller& caller);
  [[nodiscard]] Happening happening(Kind kind, const Caller& caller) const;

  World& world_;
  Dice dice_;
  std::map<std::uint32_t, unsigned> effects_;
  std::map<std::uint32_t, std::uint64_t> fences_;          ///< The highest seen, by key.
  std::map<std::uint32_t, std::set<std::uint32_t>> open_;  ///< Lines on which a key is under way.
  std::map<std::uint32_t, Underway> underway_;             ///< By line.
  std::vector<std::shared_ptr<Caller>> callers_;
  unsigned served_ = 0;
  const bool minds_fences_;
};

}  // namespace semel::sim
