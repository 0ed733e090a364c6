#include "stores/postgres_answers.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "stores/postgres_words.h"

namespace semel::postgres {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::system_clock;

/// What a log is called: enough of the store's id to be no other's.
constexpr std::size_t kLogDigits = 16;

system_clock::time_point wall_of(StoreTime time) {
  return system_clock::time_point(duration_cast<system_clock::duration>(time));
}

std::optional<RecordView::State> state_of(std::string_view word) {
  if (word == "in_flight") return RecordView::State::InFlight;
  if (word == "completed") return RecordView::State::Completed;
  if (word == "indeterminate") return RecordView::State::Indeterminate;
  return std::nullopt;
}

struct Shown {
  RecordView view;
  std::uint16_t status = 0;  ///< Of the answer, where it is completed.
};

/// From the column behind `key` on.
Shown shown_of(PgColumns& columns, IdempotencyKey key, StoreTime now) {
  Shown shown;
  RecordView& view = shown.view;
  view.key = key;
  view.reference = columns.id<Reference>();
  const auto state = state_of(columns.text());
  if (!state) columns.reject();
  view.state = state.value_or(RecordView::State::Indeterminate);
  view.policy = columns.policy();
  view.fence = columns.fence();
  view.tenant = columns.text();
  view.route = columns.text();
  const auto reason = columns.maybe_reason();
  const auto status = columns.maybe_status();
  const StoreTime lease_end = columns.time();
  view.created = wall_of(columns.time());
  view.changed = wall_of(columns.time());
  const auto end = columns.maybe_number();
  if (view.state == RecordView::State::Indeterminate) {
    view.reason = reason;
    view.upstream_status = status;
  }
  if (view.state != RecordView::State::Completed) {
    view.lease_left = std::chrono::ceil<milliseconds>(lease_end - now);
  } else if (!status) {
    columns.reject();
  }
  shown.status = status.value_or(0);
  if (end) view.expires_in = std::chrono::ceil<seconds>(store_time_of(*end) - now);
  return shown;
}

/// Only what std::to_string() writes.
std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stopped != end || std::to_string(number) != digits) {
    return std::nullopt;
  }
  return number;
}

/// From the column `xid` on, in a row that has one.
TransitionEvent event_of(PgColumns& columns, const std::string& store_id) {
  TransitionEvent event;
  EventPlace place;
  place.xid = static_cast<std::uint64_t>(columns.number());
  place.seq = static_cast<std::uint64_t>(columns.number());
  const auto kind = transition_kind_of(columns.text());
  if (!kind) columns.reject();
  event.kind = kind.value_or(TransitionKind::Indeterminate);
  event.key = columns.id<IdempotencyKey>();
  event.reference = columns.id<Reference>();
  event.fence = columns.fence();
  event.policy = columns.policy();
  event.tenant = columns.text();
  event.route = columns.text();
  event.reason = columns.maybe_reason();
  event.status = columns.maybe_status();
  if (const auto happened = columns.maybe_number()) event.happened = *happened != 0;
  const std::int64_t at = columns.number();
  place.at = static_cast<std::uint64_t>(at);
  event.at = wall_of(store_time_of(at));
  event.position = position_of(store_id, place);
  return event;
}

}  // namespace

ClaimAnswer claim_answer(const PgRow& row) {
  PgColumns columns(row);
  ClaimAnswer told;
  static_cast<void>(columns.time());
  const std::string_view word = columns.text();
  const auto acknowledgements = columns.maybe_number();
  const auto fence = columns.maybe_number();
  const auto expired_before = columns.maybe_number();
  const auto token = columns.maybe_id<ClaimToken>();
  const auto reference = columns.maybe_id<Reference>();
  const auto lease_left = columns.maybe_number();
  const auto policy_word = columns.maybe_text();
  const auto reason = columns.maybe_reason();
  const auto status = columns.maybe_status();
  const auto answer = columns.maybe_text();
  if (!columns.ok()) return told;
  told.acknowledgements = acknowledgements;
  if ((word == "granted" || word == "own") && fence && expired_before) {
    told.reply = Granted{Fence{static_cast<std::uint64_t>(*fence)}, *expired_before != 0};
  } else if (word == "held" && reference && lease_left) {
    told.reply =
        Held{*reference, std::chrono::ceil<milliseconds>(std::chrono::microseconds(*lease_left))};
  } else if (word == "completed" && reference && status) {
    auto response = answer_of(answer, *status);
    if (response) told.reply = Completed{*reference, *std::move(response)};
  } else if (word == "indeterminate" && reference && reason) {
    told.reply = Indeterminate{*reference, *reason, status};
  } else if (word == "abandoned" && token && fence && reference && policy_word) {
    const auto policy = parse_policy(*policy_word);
    if (policy && is_keyed(*policy)) {
      told.reply =
          Abandoned{*token, Fence{static_cast<std::uint64_t>(*fence)}, *reference, *policy};
    }
  } else if (word == "caller_differs") {
    told.reply = CallerDiffers{};
  } else if (word == "payload_differs" && reference) {
    told.reply = PayloadDiffers{*reference};
  } else if (word == "suspect") {
    told.reply = Fault::StoreSuspect;
  } else if (word == "gone" || word == "late" || word == "unmet") {
    told.is_unmet = word == "unmet";
    told.reply = Fault::StoreUnreachable;
  }
  return told;
}

WriteAnswer write_answer(const PgRow& row) {
  PgColumns columns(row);
  WriteAnswer told;
  static_cast<void>(columns.time());
  const std::string_view word = columns.text();
  const bool is_watched = columns.flag();
  if (!columns.ok()) return told;
  told.is_watched = is_watched;
  if (word == "done") told.reply = WriteReply::Done;
  if (word == "stale") told.reply = WriteReply::Stale;
  if (word == "done_against_word") told.reply = WriteReply::DoneAgainstWord;
  if (word == "stale_against_word") told.reply = WriteReply::StaleAgainstWord;
  return told;
}

ResolveAnswer resolve_answer(const PgRow& row) {
  PgColumns columns(row);
  ResolveAnswer told;
  static_cast<void>(columns.time());
  const std::string_view word = columns.text();
  const auto key = columns.maybe_text();
  if (!columns.ok()) return told;
  if (key) told.watched = std::string(*key);
  if (word == "done") told.reply = ResolveReply::Done;
  if (word == "not_found") told.reply = ResolveReply::NotFound;
  if (word == "not_unknown") told.reply = ResolveReply::NotUnknown;
  if (word == "attempt_alive") told.reply = ResolveReply::AttemptAlive;
  return told;
}

Result<SweepAnswer> sweep_answer(const PgRow& row) {
  PgColumns columns(row);
  SweepAnswer told;
  static_cast<void>(columns.time());
  told.report.expired = static_cast<std::size_t>(columns.number());
  told.report.owner_lost = static_cast<std::size_t>(columns.number());
  const auto more = columns.maybe_number();
  told.report.more = more.value_or(0) != 0;
  told.report.turned_away = !more.has_value();
  const auto keys = columns.maybe_text();
  if (!columns.ok()) return Fault::RecordCorrupt;
  if (keys) told.watched = std::string(*keys);
  return told;
}

Result<RecordView> found_record(const PgRow& row) {
  PgColumns columns(row);
  const StoreTime now = columns.time();
  const auto key = columns.id<IdempotencyKey>();
  auto [view, status] = shown_of(columns, key, now);
  const auto bytes = columns.maybe_text();
  if (!columns.ok()) return Fault::RecordCorrupt;
  if (view.state == RecordView::State::Completed) {
    auto response = answer_of(bytes, status);
    if (!response) return response.error();
    view.response = *std::move(response);
  }
  return view;
}

Result<std::optional<RecordView>> listed_record(const PgRow& row) {
  PgColumns columns(row);
  const StoreTime now = columns.time();
  static_cast<void>(columns.maybe_number());
  const auto key = columns.maybe_id<IdempotencyKey>();
  if (columns.ok() && !key) return std::optional<RecordView>();
  auto [view, status] = shown_of(columns, key.value_or(IdempotencyKey{}), now);
  if (!columns.ok()) return Fault::RecordCorrupt;
  return std::optional(std::move(view));
}

std::optional<Fence> looked_to(const PgRow& row) {
  PgColumns columns(row);
  static_cast<void>(columns.time());
  const auto fence = columns.maybe_number();
  if (!fence) return std::nullopt;
  return Fence{static_cast<std::uint64_t>(*fence)};
}

std::string position_of(const std::string& store_id, const EventPlace& place) {
  std::string text = store_id.substr(0, kLogDigits);
  for (const std::uint64_t number : {place.xid, place.seq, place.at}) {
    text += '-';
    text += std::to_string(number);
  }
  return text;
}

Result<EventPlace> place_of(const std::string& store_id, const std::string& position) {
  const std::string_view log = std::string_view(store_id).substr(0, kLogDigits);
  std::string_view left = position;
  if (!left.starts_with(log)) return Fault::RecordCorrupt;
  left.remove_prefix(log.size());
  EventPlace place;
  for (std::uint64_t* part : {&place.xid, &place.seq, &place.at}) {
    if (!left.starts_with('-')) return Fault::RecordCorrupt;
    left.remove_prefix(1);
    const auto number = number_of(left.substr(0, left.find('-')));
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!number || *number > kMax) return Fault::RecordCorrupt;
    *part = *number;
    left.remove_prefix(std::min(left.find('-'), left.size()));
  }
  if (!left.empty()) return Fault::RecordCorrupt;
  return place;
}

Result<std::variant<EventPage, EventGap>> event_answer(const PgRows& answer,
                                                       const std::optional<EventPlace>& after) {
  using Told = std::variant<EventPage, EventGap>;
  EventPage page;
  for (const PgRow& row : answer.rows) {
    PgColumns columns(row);
    const std::string store_id(columns.text());
    EventPlace trimmed;
    trimmed.xid = static_cast<std::uint64_t>(columns.number());
    trimmed.seq = static_cast<std::uint64_t>(columns.number());
    trimmed.at = static_cast<std::uint64_t>(columns.number());
    const bool is_known = columns.flag();
    if (!columns.ok()) return Fault::RecordCorrupt;
    if (!is_known || (after && *after < trimmed)) {
      return Told(EventGap{position_of(store_id, trimmed)});
    }
    if (page.next.empty()) page.next = position_of(store_id, after.value_or(trimmed));
    constexpr std::size_t kXid = 5;
    if (row.size() <= kXid) return Fault::RecordCorrupt;
    if (!row[kXid]) break;
    page.events.push_back(event_of(columns, store_id));
    if (!columns.ok()) return Fault::EventCorrupt;
    page.next = page.events.back().position;
  }
  if (page.next.empty()) return Fault::RecordCorrupt;
  return Told(std::move(page));
}

}  // namespace semel::postgres
