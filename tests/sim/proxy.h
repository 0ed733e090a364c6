#pragma once

#include <memory>
#include <vector>

#include "proxy/site.h"
#include "tests/sim/process.h"
#include "tests/sim/world.h"

namespace semel::proxy {
struct Edition;
class Worker;
}  // namespace semel::proxy

namespace semel::sim {

/// One place where a proxy runs: the production's Worker as a process of the simulated machine,
/// started anew whenever it died or was stopped.
class Proxy {
 public:
  Proxy(World& world, std::uint16_t id);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  void start();
  /// As SIGTERM: what flies goes on until its time is over.
  void drain();
  /// Its house has looked whether other replicas have changed the routes: all of them, or none.
  void see_routes(bool are_changed);
  /// It is not started again.
  void retire() { retired_ = true; }
  void doom(Fate fate) { process_->doom(fate); }
  [[nodiscard]] bool is_alive() const { return process_ != nullptr && process_->is_alive(); }
  [[nodiscard]] std::uint16_t port() const;
  /// When it was last stopped as by SIGTERM; negative: never.
  [[nodiscard]] Time last_drain() const { return last_drain_; }

 private:
  void program();
  void died();

  World& world_;
  const std::uint16_t id_;
  Process* process_ = nullptr;
  std::vector<std::unique_ptr<Process>> processes_;  ///< The dead ones too: wires refer to them.
  proxy::Site* site_ = nullptr;                      ///< Of the one that runs.
  proxy::Worker* worker_ = nullptr;
  std::shared_ptr<const proxy::Edition> edition_;  ///< Of the one that runs.
  Time last_drain_{-1};
  bool retired_ = false;
};

}  // namespace semel::sim
