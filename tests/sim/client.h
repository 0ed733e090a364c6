#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/http.h"
#include "tests/sim/world.h"

namespace semel::sim {

/// What a client wants done, however many requests it takes.
struct Errand {
  World::Call call;
  bool is_malformed = false;  ///< A request of which no key can be derived.
};

/// One client with one errand: sends it, waits for the answer, and repeats it as its temper says.
class Client {
 public:
  Client(World& world, Dice dice, Errand errand);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void begin() { try_once(); }

 private:
  /// One request on its way.
  struct Attempt;
  void try_once();
  void on_news(const std::shared_ptr<Attempt>& attempt);
  void send(const std::shared_ptr<Attempt>& attempt);
  void answered(const std::shared_ptr<Attempt>& attempt, bool is_whole);
  void give_up(const std::shared_ptr<Attempt>& attempt);
  void consider(std::uint16_t status, Retry retry, std::uint32_t retry_after);
  void retry_in(Time pause);
  [[nodiscard]] bool was_broken(const Attempt& attempt) const;
  void note(const Happening& happening);
  [[nodiscard]] std::string request(std::uint32_t call) const;
  [[nodiscard]] Happening happening(Kind kind, const Attempt& attempt) const;

  World& world_;
  Dice dice_;
  const Errand errand_;
  const bool is_disciplined_;
  unsigned tries_ = 0;
  EndPtr kept_;  ///< A connection that may be used again.
};

}  // namespace semel::sim
