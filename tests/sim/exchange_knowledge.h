#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "core/dispatch.h"

namespace semel::sim::paths {

enum class Claim : std::uint8_t { None, Perhaps, Held, Settled };
enum class Sent : std::uint8_t { Nothing, NothingForSure, Perhaps };
enum class Answer : std::uint8_t { None, Flowing, Whole, Refusal, Failure, Broken, Overdue };
enum class Client : std::uint8_t { Waiting, Begun, Told };

/// All that an exchange knows of its world.
struct Knowledge {
  Policy policy = Policy::None;  ///< By which the table is asked.
  Stage stage = Stage::Routed;
  Act act = Act::Finish;         ///< The last.
  Act write = Act::Finish;       ///< The last that was asked of the store to settle the claim.
  Event written = Event::Start;  ///< How that ended.
  Event news = Event::Start;
  Claim claim = Claim::None;
  Sent sent = Sent::Nothing;
  Answer answer = Answer::None;
  Client client = Client::Waiting;
  bool was_tried_before = false;  ///< A byte of an attempt before this one may have left.
  bool has_key = false;
  bool leads = false;
  bool bypasses = false;
  bool retried_enough = false;
  bool must_listen = false;

  [[nodiscard]] auto tied() const {
    return std::tie(policy, was_tried_before, stage, act, write, written, news, claim, sent, answer,
                    client, has_key, leads, bypasses, retried_enough, must_listen);
  }
  bool operator<(const Knowledge& other) const { return tied() < other.tied(); }
};

/// What happened, and by which policy the table is asked what follows: across a reload an EFFECTFUL
/// call may ask for the key of an IDEMPOTENT one that flies, which is EFFECTFUL from then on.
struct News {
  Event event = Event::Start;
  Policy policy = Policy::None;
};

/// What can happen after the last act: the driver's contract (proxy/exchange, proxy/late_call).
[[nodiscard]] std::vector<News> news_after(const Knowledge& known);
/// What the exchange knows more once this has come of its last act.
[[nodiscard]] Knowledge learn(Knowledge known, const News& news);
/// What is so once an act has been performed.
[[nodiscard]] Knowledge perform(Knowledge known, Step step);
/// True if the act tells the store how a claim ends.
[[nodiscard]] bool is_write(Act act);

}  // namespace semel::sim::paths
