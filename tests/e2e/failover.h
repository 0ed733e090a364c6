#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/e2e/effect_tool.h"
#include "tests/e2e/fates.h"
#include "tests/e2e/gateway.h"
#include "tests/support/faulty_link.h"

namespace semel::testing {

/// Two replicas before one address of their store, which may move from server to server, and
/// clients who book without a pause.
class FailoverRig {
 public:
  /// @param first      The port of the server that is the first one.
  /// @param store_yaml What stands below `store:` for a server at that port.
  FailoverRig(std::uint16_t first, const std::function<std::string(std::uint16_t)>& store_yaml)
      : address(first) {
    upstream.script([this](Turn& turn) { tool.play(turn); });
    for (int i = 0; i < 2; ++i) {
      SemelOptions process;
      process.binary = semel_binary();
      process.store = StoreKind::Shared;
      process.shared_store = store_yaml(address.port());
      process.yaml = "upstreams:\n  tool:\n    endpoints: [\"" + endpoint_of(upstream.port()) +
                     "\"]\n" + routes();
      replicas_.emplace_back(std::move(process));
    }
    replicas_.front().init_store();
    for (SemelProcess& replica : replicas_) replica.start();
  }

  FaultyLink address;
  EffectTool tool;
  ScriptedUpstream upstream;

  /// Books until told to stop, at both replicas, each time another seat.
  class Load {
   public:
    explicit Load(FailoverRig& rig) : rig_(rig) {
      rig.loads_ += 1;
      for (int client = 0; client < kClients; ++client) {
        threads_.emplace_back([this, client] { book(client); });
      }
    }
    ~Load() { stop(); }
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    [[nodiscard]] std::size_t answered() const { return answered_; }
    /// Waits for that many further answers, no longer than `patience`.
    bool sees_more(std::size_t answers, milliseconds patience = milliseconds{30'000}) const {
      const std::size_t wanted = answered_ + answers;
      return eventually([&] { return answered_ >= wanted; }, patience);
    }
    /// @return The runs that were answered, with the replica that did it.
    const std::vector<std::pair<std::string, std::size_t>>& stop() {
      is_over_ = true;
      for (std::thread& thread : threads_) thread.join();
      threads_.clear();
      return runs_;
    }

   private:
    static constexpr int kClients = 8;

    void book(int client) {
      const std::size_t which = static_cast<std::size_t>(client) % 2;
      std::optional<HttpClient> connection;
      for (int call = 0; !is_over_; ++call) {
        if (!connection) connection.emplace(rig_.at(which).port());
        const std::string run = "kept-" + std::to_string(rig_.loads_) + "-" +
                                std::to_string(client) + "-" + std::to_string(call);
        const Response answer = connection->exchange(request(run));
        if (!answer.is_complete()) connection.reset();
        // One that was told as `unrecorded` promised nothing.
        if (answer.header("Idempotency-Status") == "executed") {
          const std::lock_guard lock(mutex_);
          runs_.emplace_back(run, which);
          answered_ += 1;
        } else {
          // Whoever is refused waits: the servers of the test have the same cores.
          std::this_thread::sleep_for(milliseconds{10});
        }
      }
    }

    FailoverRig& rig_;
    std::atomic<bool> is_over_{false};
    std::atomic<std::size_t> answered_{0};
    std::mutex mutex_;
    std::vector<std::pair<std::string, std::size_t>> runs_;
    std::vector<std::thread> threads_;
  };

  [[nodiscard]] SemelProcess& at(std::size_t which) { return replicas_.at(which); }
  [[nodiscard]] static Request request(const std::string& run) {
    return Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", run}});
  }
  [[nodiscard]] bool is_suspect() const {
    for (const SemelProcess& replica : replicas_) {
      if (replica.metric("semel_store_suspect") > 0) return true;
    }
    return false;
  }
  /// Waits until both replicas serve, or say that they suspect a loss.
  bool is_back() {
    bool all = true;
    for (std::size_t which = 0; which < replicas_.size(); ++which) {
      all = all && settled(which, "kept-probe-" + std::to_string(++probes_)).status != 0;
    }
    return all;
  }

  /// Asks for everything again at the other replica, adds what became of it, and has an operator
  /// acknowledge a loss.
  void judge(const std::vector<std::pair<std::string, std::size_t>>& runs, Fates& fates) {
    const int twice_before = tool.second_effects();
    std::size_t lost = 0;
    for (const auto& [run, which] : runs) {
      const Response again = settled(1 - which, run);
      if (again.header("Idempotent-Replayed") == "true") {
        fates.replayed += 1;
      } else if (again.status == 409) {
        fates.unknown += 1;
      } else {
        lost += 1;
      }
    }
    const bool is_noticed = is_suspect();
    fates.answered += runs.size();
    fates.rounds += 1;
    fates.lost += lost;
    fates.rounds_with_loss += lost > 0 ? 1 : 0;
    fates.ran_twice += tool.second_effects() - twice_before;
    fates.unnoticed += lost > 0 && !is_noticed ? 1 : 0;
    fates.false_alarms += lost == 0 && is_noticed ? 1 : 0;
    if (is_noticed) acknowledge();
  }

 private:
  /// A duplicate does not wait: a claim whose answer was lost is held for as long as its lease.
  static std::string routes() {
    return booking_route("\n    on_duplicate: reject\n    timeout: 10s");
  }
  /// The answer once it is no passing refusal. Status 0: there was none in time.
  Response settled(std::size_t which, const std::string& run) {
    Response answer;
    const bool came = eventually([&] {
      answer = call(at(which).port(), request(run));
      return answer.is_complete() &&
             (answer.status != 503 || answer.body.find("store-suspect") != std::string::npos);
    });
    if (!came) answer.status = 0;
    EXPECT_TRUE(came) << run << " at replica " << which << ": " << answer.body;
    return answer;
  }

  /// Claims that each process made and was told of after the loss may be missing too: a word for
  /// each of them.
  void acknowledge() {
    EXPECT_TRUE(eventually([&] {
      const Finished word =
          testing::run({at(0).binary(), "store", "acknowledge", at(0).config_file()});
      if (!word.exit || word.exit->code != 0) return false;
      for (std::size_t which = 0; which < replicas_.size(); ++which) {
        const Response probe = settled(which, "kept-probe-" + std::to_string(++probes_));
        if (probe.status != 201) return false;
      }
      return !is_suspect();
    }));
  }

  std::deque<SemelProcess> replicas_;
  int loads_ = 0;
  int probes_ = 0;
};

}  // namespace semel::testing
