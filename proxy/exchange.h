#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/dispatch.h"
#include "core/key.h"
#include "proxy/answer_draft.h"
#include "proxy/flights.h"
#include "proxy/forwarded_request.h"
#include "proxy/recycled.h"
#include "proxy/reply.h"
#include "proxy/settlement.h"
#include "proxy/shadow.h"
#include "proxy/upstream.h"
#include "proxy/worker.h"

namespace semel::proxy {

/// One client request and its one reply: asks the dispatch table, does what it says, comes back
/// with the event (ARCHITECTURE.md, "The way of a request"). Holds the payloads that the table
/// leaves out.
/// @thread One worker's.
class Exchange : public Recycled<Exchange> {
 public:
  /// @owns Everything viewed must outlive run(): the head's buffer, the body, the reply.
  struct Asked {
    const RequestHead* head = nullptr;
    const NormalPath* path = nullptr;
    const RouteMatch* match = nullptr;
    std::string_view body;          ///< Whole where `stream` is null, else its first bytes.
    RequestBody* stream = nullptr;  ///< Unkeyed routes only.
    std::string_view client_address;
    Outfit* outfit = nullptr;
    Policy policy = Policy::None;  ///< The route's, or None where the request is not guarded.
    bool is_shadowed = false;      ///< Not guarded, and watched as if it were.
  };

  Exchange(Worker& worker, Asked asked, Reply& reply);
  ~Exchange() {
    if (shadow_ != nullptr) shadow_->give_up();
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Runs to Done: the client is answered or gone, and the claim, if there was one, is settled.
  [[nodiscard]] Task<> run();

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] Task<Event> perform(Act act);
  [[nodiscard]] GiveBack give_back() const;
  [[nodiscard]] Task<> own_failure();

  // The key and who else is on it.
  [[nodiscard]] Event begin() const;
  [[nodiscard]] KeyInputs key_inputs() const;
  [[nodiscard]] Event derive();
  [[nodiscard]] Event join_flight();
  void sight(const Flights::Sight& seen);
  [[nodiscard]] Task<Event> follow();
  [[nodiscard]] Task<Event> claim();
  [[nodiscard]] Task<Event> claim_within(std::size_t new_keys_max, Clock::time_point began);
  [[nodiscard]] Task<Event> ask_for_claim(Clock::time_point began);
  [[nodiscard]] Task<Event> supersede();
  [[nodiscard]] Task<Event> mark_abandoned();
  [[nodiscard]] Task<Event> await_holder();
  [[nodiscard]] ClaimRequest claim_request() const;
  [[nodiscard]] Event store_failed(Fault fault, StoreOperation operation);
  [[nodiscard]] Event take_reply(ClaimReply reply);

  // The tool (exchange_forward.cc).
  [[nodiscard]] Task<Event> forward();
  [[nodiscard]] UpstreamCall::Dispatch terms_of_dispatch(const UpstreamSite& site);
  [[nodiscard]] Task<Event> backoff();
  [[nodiscard]] Task<Event> collect();
  [[nodiscard]] Task<Event> relay_through();
  [[nodiscard]] Task<Event> relay_live();
  [[nodiscard]] Task<Event> relay(Outcome outcome, bool veto);
  [[nodiscard]] Task<Event> relay_or_refuse();
  [[nodiscard]] Task<Event> cut();
  [[nodiscard]] Task<bool> may_try_again();
  [[nodiscard]] Event judged(Event event);
  void heed_stricter();
  [[nodiscard]] static bool may_be_sent_again(void* self);
  [[nodiscard]] Event classify() const { return verdict(call_->head().status, route()); }
  [[nodiscard]] Event broken_off();
  Event complete();
  [[nodiscard]] Task<> hand_on(std::string_view data);
  [[nodiscard]] const StoredResponsePtr& answer();
  void note_unknown();
  [[nodiscard]] Task<Event> mark();
  [[nodiscard]] Task<> hand_over();
  void begin_shadow();

  // The client.
  [[nodiscard]] Task<Event> share();
  [[nodiscard]] Task<Event> replay();
  [[nodiscard]] Task<Event> refuse(ProblemType type);
  [[nodiscard]] Task<Event> refuse(Problem problem);
  [[nodiscard]] Problem problem(ProblemType type) const;
  [[nodiscard]] GuardWords words(Outcome outcome, bool veto = false) const;
  void close_if_unread();
  void land(StoredResponsePtr response, bool marked);
  void account();

  [[nodiscard]] std::string_view reference() const {
    return reference_ ? reference_->view() : std::string_view();
  }
  [[nodiscard]] const Route& route() const { return *asked_.match->route; }
  [[nodiscard]] bool is_guarded() const { return is_keyed(asked_.policy); }

  Worker& worker_;
  const Asked asked_;
  Reply& reply_;
  RouteMetrics& metrics_;
  const Clock::time_point began_ = Clock::now();
  Policy policy_;  // By which the table is asked: `asked_`'s, or the stricter one of a follower.

  DerivedKey key_;
  std::vector<EarlierKey> earlier_;  // Of the route's earlier key versions.
  bool has_key_ = false;
  std::optional<HexText<32>> reference_;  // Of the claim that the answer speaks of.
  HexText<55> trace_parent_;
  Flights::Lead lead_;
  Flights::Seat seat_;
  std::shared_ptr<const Landing> landing_;
  std::optional<Settlement> settlement_;
  ClaimToken token_;
  Reference own_reference_;
  Fence fence_;
  Attempt abandoned_;
  std::chrono::nanoseconds claim_asked_{0};  // CLOCK_BOOTTIME.
  std::chrono::milliseconds holder_left_{0};
  std::chrono::milliseconds poll_{20};
  StoredResponsePtr stored_;  // Found in the store.
  std::optional<std::uint16_t> unknown_status_;
  std::optional<IndeterminateReason> unknown_reason_;  // Of all attempts so far.
  std::string refusal_detail_;
  ProblemType refusal_ = ProblemType::Internal;
  ProblemType store_refusal_ = ProblemType::StoreUnavailable;

  std::unique_ptr<UpstreamCall> call_;
  bool bypassing_ = false;
  bool dispatched_ = false;  // A request byte may have left, in this attempt or an earlier one.
  bool was_tried_before_ = false;  // A byte of an earlier attempt may have left.
  int attempts_ = 0;
  Clock::time_point first_sent_{};
  Clock::time_point stream_until_{};  // For the answer's last byte, once its head is here.
  Clock::duration stalled_{};         // By a client that took its time.
  Clock::duration upstream_time_{};
  AnswerDraft draft_;
  std::shared_ptr<Shadow> shadow_;  // Watches; null on other routes.
  StoredResponsePtr answer_;        // What is recorded and shared.
  bool was_released_ = false;       // The claim was given back, whatever was answered.
  std::optional<UpstreamEnd> upstream_end_;
  CallFailure upstream_failure_ = CallFailure::None;

  Outcome outcome_ = Outcome::Refused;
  Stage last_stage_ = Stage::Routed;
  Act last_act_ = Act::Finish;
};

}  // namespace semel::proxy
