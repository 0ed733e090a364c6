#include "proxy/record_json.h"

#include "core/json_object.h"
#include "proxy/utc_time.h"

namespace semel::proxy {
namespace {

using State = RecordView::State;

constexpr State kStates[] = {State::InFlight, State::Completed, State::Indeterminate};

void add_time(JsonObject& record, std::string_view member,
              std::chrono::system_clock::time_point when) {
  std::string text;
  append_utc(text, when);
  record.text(member, text);
}

void add_response(std::string& out, JsonObject& record, const StoredResponse& response) {
  record.begin("response");
  JsonObject answer(out);
  if (response.status != 0) answer.number("status", response.status);
  answer.truth("kept", response.kept == BodyKept::Kept);
  if (response.kept == BodyKept::Kept) answer.number("body_bytes", response.body.size());
  answer.end();
}

}  // namespace

std::string_view name(State state) {
  switch (state) {
    case State::InFlight:
      return "in_flight";
    case State::Completed:
      return "completed";
    case State::Indeterminate:
      return "indeterminate";
  }
  return "in_flight";
}

std::optional<State> parse_state(std::string_view word) {
  for (const State state : kStates) {
    if (name(state) == word) return state;
  }
  return std::nullopt;
}

std::optional<Reference> parse_reference(std::string_view digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  Reference reference;
  if (digits.size() != 2 * reference.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const auto value = kDigits.find(digits[i]);
    if (value == std::string_view::npos) return std::nullopt;
    std::uint8_t& byte = reference.bytes[i / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
  }
  return reference;
}

void append_record(std::string& out, const RecordView& view) {
  JsonObject record(out);
  record.text("reference", to_hex(view.reference));
  record.text("state", name(view.state));
  record.text("route", view.route);
  record.text("policy", name(view.policy));
  record.text("tenant", view.tenant);
  record.text("key", key_prefix(view.key));
  record.number("fence", view.fence.value);
  add_time(record, "created", view.created);
  add_time(record, "changed", view.changed);
  if (view.expires_in) {
    record.number("expires_in_seconds", view.expires_in->count());
  } else {
    record.null("expires_in_seconds");
  }
  if (view.state != State::Completed) {
    record.number("lease_left_ms", std::max<std::int64_t>(0, view.lease_left.count()));
  }
  if (view.reason) record.text("reason", name(*view.reason));
  if (view.upstream_status) record.number("upstream_status", *view.upstream_status);
  if (view.response) add_response(out, record, *view.response);
  record.end();
}

}  // namespace semel::proxy
