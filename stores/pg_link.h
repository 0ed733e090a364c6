#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "io/random.h"
#include "io/task.h"
#include "stores/pg_call.h"
#include "stores/pg_dialer.h"
#include "stores/pg_left_behind.h"
#include "stores/pg_links.h"
#include "stores/pg_pipeline.h"
#include "stores/pg_socket.h"
#include "stores/pg_standing.h"
#include "stores/pg_target.h"

namespace semel {

/// What the links of one store have in common.
struct PgLinkTerms {
  std::shared_ptr<const PgTarget> target;
  std::shared_ptr<PgStanding> standing;
  std::shared_ptr<PgLeftBehind> left_behind;  ///< Of the worker's lanes.
  std::chrono::milliseconds deadline{1'000};  ///< Of one call.
  std::chrono::milliseconds patience{700};    ///< Of an attempt to come back.
  PgAdmission admission;
  std::function<void(std::string_view)> on_notification;  ///< Absent: they are dropped.
  std::function<void()> on_loss;                          ///< The connection broke.
};

/// One connection of one worker, that comes back by itself. Its first calls wait until it is made;
/// later, while it is down, calls end at once. Where another connection to the server was made
/// since, they wait again. Once it was closed on calls without an answer, it stays down until the
/// server is done with them.
/// @thread Its worker's; close() also any other, once the worker stands still.
class PgLink : public std::enable_shared_from_this<PgLink> {
 public:
  using Clock = std::chrono::steady_clock;
  using Timer = PgDialer::Timer;

  PgLink(Executor executor, std::size_t lane, PgLinkTerms terms);

  /// Connects, and does so again whenever it is down, until close().
  void start();
  /// @faults As PgLinks::call.
  [[nodiscard]] static Task<Result<PgRows>> call(std::shared_ptr<PgLink> self,
                                                 const PgStatement& statement,
                                                 std::vector<PgValue> params);
  /// As PgLinks::tell.
  void tell(const PgStatement& statement, std::vector<PgValue> params);
  void close();
  [[nodiscard]] std::size_t lane() const { return lane_; }

 private:
  enum class State : std::uint8_t {
    Starting,  ///< The first attempt to connect is under way: calls wait for it.
    Down,
    Up,
    Worn,  ///< What was sent is still answered; nothing more is let in.
    Closed,
  };

  static Task<> live(std::shared_ptr<PgLink> self);
  Task<> rest(std::chrono::milliseconds pause);
  void begin_anew();
  Task<bool> connect();
  Task<bool> ask_facts(Clock::time_point until);
  Task<bool> outwait_left_behind();
  Task<bool> ask_admission(Clock::time_point until);
  Task<Result<PgRows>> ask_alone(const PgStatement& statement, std::vector<PgValue> params,
                                 Clock::time_point until);
  void let_through();
  Task<> carry();
  void flush_later();
  [[nodiscard]] bool take_answers();
  [[nodiscard]] bool take_answers_aside();
  [[nodiscard]] bool send_calls();
  void keep_deadline();
  void on_deadline();
  void break_off(Fault fault, const std::string& trouble);

  const Executor executor_;
  const std::size_t lane_;
  const PgLinkTerms terms_;
  PgDialer dialer_;
  RandomBits random_;
  State state_ = State::Starting;
  Clock::time_point attempt_until_;  ///< When the latest attempt to connect should have ended.
  Fault fault_ = Fault::StoreUnreachable;  ///< Of calls while it is down,
  Clock::time_point down_since_{};         ///< since then.
  PgCalls waiting_;                        ///< While it is starting.
  std::shared_ptr<PgSocket> socket_;
  std::optional<PgPipeline> pipeline_;
  PgFacts facts_;
  std::optional<PgBackend> backend_;  ///< Of this connection, once it has said so.
  std::optional<Timer> deadline_;     ///< Set while something is unanswered.
  std::optional<Timer> pause_;        ///< Set between two attempts.
  bool flush_is_posted_ = false;
  bool is_stuffed_ = false;
};

}  // namespace semel
