#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "tests/sim/coverage.h"
#include "tests/sim/history.h"
#include "tests/sim/kernel.h"
#include "tests/sim/plan.h"
#include "tests/sim/wire_store.h"

namespace semel::sim {

class Client;
class Operator;
class Proxy;
class Tool;
class ToolWire;
struct Errand;

/// One simulated world: proxies, their store, the tool, the clients and an operator, all of one
/// seed. Runs to its end on the thread that made it; one at a time.
class World {
 public:
  World(std::uint64_t seed, const Hooks& hooks, Coverage& coverage);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Lets everything happen.
  const History& run();

  // What the inhabitants share.
  Plan plan;
  Timeline timeline;
  History history;
  Kernel kernel;
  const config::Config config;

  static constexpr std::uint32_t kKeysOfARoute = 100;
  static constexpr std::uint16_t kToolPort = 9000;
  static constexpr std::uint16_t kFirstProxyPort = 8001;

  /// What a client means by its request.
  struct Call {
    std::uint32_t key = 0;
    std::uint32_t payload = 0;
    std::uint16_t caller = 0;
    std::uint16_t route = 0;
  };
  /// A number for a request that is about to be sent.
  [[nodiscard]] std::uint32_t number(const Call& call);
  [[nodiscard]] const Call& call(std::uint32_t number) const { return calls_[number]; }
  [[nodiscard]] std::size_t calls() const { return calls_.size(); }
  /// Something that happens now.
  [[nodiscard]] Happening happening(Kind kind) const;

  [[nodiscard]] Tool& tool() { return *tool_; }
  [[nodiscard]] StoreServer& store() { return store_; }
  [[nodiscard]] WireStore::Exchange& wires() { return wires_; }
  [[nodiscard]] const Hooks& hooks() const { return hooks_; }
  [[nodiscard]] Time last_kill() const { return last_kill_; }
  /// A proxy's key as it goes upstream, in hex. @return its number; kNone: it is none.
  [[nodiscard]] std::uint32_t record_of_hex(std::string_view hex);
  /// A reference as it is told to clients. @return its attempt; kNone: nobody drew it.
  [[nodiscard]] std::uint32_t attempt_of_hex(std::string_view hex) const;
  /// Clients that wait for an answer: the world does not end before they have it.
  void count_waiting(int more) { waiting_ += more; }
  void count_effect() { coverage_.effects += 1; }
  [[nodiscard]] bool is_over() const { return timeline.now() >= over_; }
  /// When this proxy was last stopped as by SIGTERM; negative: never.
  [[nodiscard]] Time last_drain(std::uint16_t proxy) const;
  void note_fate(std::uint16_t proxy, const Fate& fate);
  /// Has each proxy see whether another replica has changed its routes.
  void look_at_routes();

 private:
  void plan_troubles();
  void plan_stops();
  void plan_errands();
  [[nodiscard]] Errand errand();
  void housekeep();
  void watch_wires();
  void rule(const Ruling& ruling);
  [[nodiscard]] Proxy& proxy(std::uint64_t drawn) { return *proxies_[drawn % proxies_.size()]; }
  [[nodiscard]] Fate due(std::vector<CallAccident>& planned, unsigned& counted);

  Hooks hooks_;
  Coverage& coverage_;
  StoreServer store_;
  WireStore::Exchange wires_;
  std::unique_ptr<Tool> tool_;
  std::unique_ptr<ToolWire> tool_wire_;
  std::unique_ptr<Operator> operator_;
  std::vector<std::unique_ptr<Proxy>> proxies_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Call> calls_;
  Bailiff bailiff_;
  std::array<unsigned, Coverage::kActCount> performed_{};
  unsigned kernel_calls_ = 0;
  unsigned store_calls_ = 0;
  Time last_kill_{-1};
  int waiting_ = 0;
  Time over_{0};  ///< Nobody begins anything later.
};

}  // namespace semel::sim
