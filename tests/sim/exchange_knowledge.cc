// How an exchange comes to know what it knows, on any way through any table.
#include "tests/sim/exchange_knowledge.h"

namespace semel::sim::paths {
namespace {

std::vector<Event> answers_of_a_claim(Policy policy) {
  std::vector<Event> events = {Event::Granted,       Event::Held,           Event::Completed,
                               Event::CompletedBare, Event::Unknown,        Event::OwnerLost,
                               Event::CallerDiffers, Event::PayloadDiffers, Event::StoreFailed,
                               Event::ClaimUnknown};
  if (policy == Policy::Idempotent) {
    events.push_back(Event::Abandoned);
    events.push_back(Event::StoreBypassed);
  }
  return events;
}

std::vector<Event> ends_of_a_forward(const Knowledge& known) {
  const Policy policy = known.policy;
  std::vector<Event> events = {Event::Flowing, Event::NeverSent, Event::Unanswered};
  if (policy == Policy::ReadOnly) events.push_back(Event::AnsweredFailure);
  if (is_keyed(policy) && !known.bypasses) {
    events.insert(events.end(), {Event::Answered, Event::AnsweredRefusal, Event::AnsweredFailure});
  }
  if (policy == Policy::Effectful) events.push_back(Event::Overdue);
  return events;
}

std::vector<Event> events_after(const Knowledge& known) {
  const Policy policy = known.policy;
  using enum Event;
  switch (known.act) {
    case Act::DeriveKey:
      return {KeyReady, KeyRefused};
    case Act::JoinFlight:
      return {Led, Joined, DuplicateRejected, TooManyFollowers, CallerDiffers, PayloadDiffers};
    case Act::Follow:
      return {FlightLanded, FlightFreed, WaitOver};
    case Act::Claim: {
      std::vector<Event> events = answers_of_a_claim(policy);
      events.push_back(QuotaSpent);
      events.push_back(RouteChanged);
      return events;
    }
    case Act::Supersede:
      return answers_of_a_claim(policy);
    case Act::AwaitHolder:
      return {RetryReady, WaitOver};
    case Act::MarkAbandoned:
      return {Unknown, RetryReady, StoreFailed};
    case Act::Forward:
      return ends_of_a_forward(known);
    case Act::Backoff:
      return {RetryReady, RetriesSpent};
    case Act::RelayThrough:
      return {Sent, Unanswered};
    case Act::RelayLive: {
      std::vector<Event> events = {Answered, AnsweredRefusal, AnsweredFailure, Unanswered};
      if (policy == Policy::Effectful) events.push_back(Overdue);
      return events;
    }
    case Act::Record:
    case Act::RecordBare:
    case Act::Mark:
    case Act::Release:
      return {Written, WriteStale, NoRoom, WriteFailed};
    case Act::AwaitLate:
      return {Answered, AnsweredRefusal, AnsweredFailure, Unanswered, WaitOver};
    case Act::Finish:
      return {};
    default:
      return {Sent};
  }
}

/// What an attempt before this one left unknown, this one's refusal does not make known.
Event judged_strictly(const Knowledge& known, Event event) {
  if (!known.was_tried_before) return event;
  if (event == Event::AnsweredRefusal) return Event::AnsweredFailure;
  return event == Event::NeverSent ? Event::Unanswered : event;
}

/// How a pause ends in which the call became EFFECTFUL: as its last attempt did.
Event end_of_last_attempt(const Knowledge& known) {
  if (known.answer == Answer::Failure) return Event::AnsweredFailure;
  return known.sent == Sent::Perhaps ? Event::Unanswered : Event::NeverSent;
}

}  // namespace

bool is_write(Act act) {
  return act == Act::Record || act == Act::RecordBare || act == Act::Mark || act == Act::Release;
}

std::vector<News> news_after(const Knowledge& known) {
  std::vector<News> all;
  const bool in_flight = known.stage == Stage::Forwarding || known.stage == Stage::Streaming;
  const bool may_tighten = known.policy == Policy::Idempotent && in_flight;
  for (const Event event : events_after(known)) {
    all.push_back({event, known.policy});
    if (may_tighten) all.push_back({judged_strictly(known, event), Policy::Effectful});
  }
  if (known.policy == Policy::Idempotent && known.act == Act::Backoff) {
    all.push_back({end_of_last_attempt(known), Policy::Effectful});
  }
  return all;
}

Knowledge learn(Knowledge known, const News& news) {
  const Event event = news.event;
  known.policy = news.policy;
  const bool asked_the_tool = known.act == Act::Forward || known.act == Act::RelayLive ||
                              known.act == Act::RelayThrough || known.act == Act::AwaitLate;
  known.news = event;
  switch (event) {
    case Event::KeyReady:
      known.has_key = true;
      break;
    case Event::Led:
      known.leads = true;
      break;
    case Event::Granted:
      known.claim = Claim::Held;
      break;
    case Event::ClaimUnknown:
      known.claim = Claim::Perhaps;
      break;
    case Event::StoreBypassed:
      known.bypasses = true;
      break;
    case Event::Answered:
      known.answer = Answer::Whole;
      break;
    case Event::AnsweredRefusal:
      known.answer = Answer::Refusal;
      break;
    case Event::AnsweredFailure:
      known.answer = Answer::Failure;
      break;
    case Event::Flowing:
      known.answer = Answer::Flowing;
      break;
    case Event::Unanswered:
      known.answer = Answer::Broken;
      break;
    case Event::Overdue:
      known.answer = Answer::Overdue;
      known.must_listen = true;
      break;
    case Event::RetriesSpent:
      known.retried_enough = true;
      break;
    default:
      break;
  }
  if (known.act == Act::Forward) {
    if (event != Event::NeverSent) {
      known.sent = Sent::Perhaps;
    } else if (known.sent == Sent::Nothing) {
      known.sent = Sent::NothingForSure;
    }
  }
  // Late news is to be written down like any other.
  if (known.act == Act::AwaitLate && event != Event::WaitOver) known.claim = Claim::Held;
  if (is_write(known.act)) {
    known.written = event;
    // What had no room is still to be completed without its body.
    if (known.act == Act::Record && event == Event::NoRoom) known.claim = Claim::Held;
  }
  if (!asked_the_tool && event == Event::Sent) known.client = Client::Told;
  if (known.act == Act::RelayThrough && event == Event::Sent) known.client = Client::Told;
  return known;
}

Knowledge perform(Knowledge known, Step step) {
  known.stage = step.stage;
  known.act = step.act;
  if (is_write(step.act)) {
    known.write = step.act;
    known.claim = Claim::Settled;
  }
  if (step.act == Act::DisownAndRefuse) known.claim = Claim::Settled;
  if (step.act == Act::RelayLive || step.act == Act::RelayThrough) known.client = Client::Begun;
  if (step.act == Act::AwaitLate) {
    known.must_listen = false;
  }
  if (step.act == Act::Forward) {
    known.answer = Answer::None;
    known.was_tried_before = known.sent == Sent::Perhaps;
  }
  return known;
}

}  // namespace semel::sim::paths
