// The parts of a route that say what is kept, forwarded and repeated.
#include <algorithm>

#include "config/read_route.h"
#include "config/read_statuses.h"
#include "core/header_rules.h"

namespace semel::config {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kBodyMax = std::size_t{1} << 30;

/// Refusals before the work (spec 4).
StatusSet default_release_on() {
  StatusSet statuses;
  for (const std::size_t status : {400u, 401u, 403u, 404u, 405u, 407u, 411u, 413u, 414u, 415u, 421u,
                                   422u, 425u, 426u, 428u, 429u, 431u}) {
    statuses.set(status);
  }
  return statuses;
}

StatusSet default_indeterminate_on() {
  StatusSet statuses;
  statuses.set(408);
  for (std::size_t status = 500; status < statuses.size(); ++status) statuses.set(status);
  return statuses;
}

std::vector<std::string> read_header_names(const Value& value) {
  std::vector<std::string> names;
  for (const Value& item : value.items()) {
    const std::string name = item.nonempty_text();
    if (!is_token(name)) item.fail("\"" + name + "\" is no header name; write one such as X-Total");
    names.push_back(name);
  }
  return names;
}

void read_replay_headers(const Mapping& mapping, Route& route) {
  if (const auto value = mapping.find("add")) {
    for (const Value& item : value->items()) {
      const std::string name = item.text();
      if (!is_hop_by_hop(name) && !is_our_answer_field(name)) continue;
      item.fail(name + " is never replayed: it belongs to one connection or to Semel; remove it");
    }
    route.replay_headers_add = read_header_names(*value);
  }
  if (const auto value = mapping.find("remove")) {
    route.replay_headers_remove = read_header_names(*value);
    for (const Value& item : value->items()) {
      const std::string name = item.text();
      const auto is_same = [&](const std::string& added) { return same_name(added, name); };
      if (std::any_of(route.replay_headers_add.begin(), route.replay_headers_add.end(), is_same)) {
        item.fail(name + " is in both add and remove; keep one");
      }
    }
  }
}

/// A list that was written wins over the default of the other; two written ones must not meet.
void read_status_lists(const Mapping& mapping, RecordRules& rules) {
  const auto release = mapping.find("release_on");
  const auto indeterminate = mapping.find("indeterminate_on");
  if (release) rules.release_on = read_statuses(*release);
  if (indeterminate) rules.indeterminate_on = read_statuses(*indeterminate);
  const StatusSet both = rules.release_on & rules.indeterminate_on;
  if (both.none()) return;
  if (release && indeterminate) {
    indeterminate->fail("the status " + to_text(both) +
                        " stands in release_on too; a status either proves that nothing happened "
                        "or leaves it unknown: keep it in one");
  }
  (release ? rules.indeterminate_on : rules.release_on) &= ~both;
}

}  // namespace

void read_record_rules(const Mapping& route_mapping, Route& route) {
  route.record.release_on = default_release_on();
  route.record.indeterminate_on = default_indeterminate_on();
  const auto value = route_mapping.find("record");
  if (!value) return;
  const Mapping mapping = value->mapping(kRecordGrammar);
  if (const auto size = mapping.find("max_body")) {
    route.record.body_bytes_max = size->size({0, kBodyMax});
  }
  if (const auto body = mapping.find("body")) route.record.keep_body = body->boolean();
  read_status_lists(mapping, route.record);
  if (const auto headers = mapping.find("headers")) {
    read_replay_headers(headers->mapping(kReplayHeadersGrammar), route);
  }
}

RetryRules read_retry_rules(const Value& value) {
  RetryRules rules;
  if (value.is_word("off")) {
    rules.attempts = 1;
    return rules;
  }
  const Mapping mapping = value.mapping(kRetryGrammar);
  if (const auto attempts = mapping.find("attempts")) {
    rules.attempts = static_cast<int>(attempts->integer({1, 10}));
  }
  if (const auto backoff = mapping.find("backoff")) {
    rules.backoff = backoff->duration({milliseconds(0), milliseconds(60'000)});
  }
  if (const auto budget = mapping.find("budget")) rules.budget_percent = budget->percentage();
  if (const auto on = mapping.find("on")) {
    rules.on_connect = false;
    rules.on_reset = false;
    rules.on_status.clear();
    for (const Value& item : on->items()) {
      if (item.is_word("connect")) {
        rules.on_connect = true;
      } else if (item.is_word("reset")) {
        rules.on_reset = true;
      } else {
        const StatusSpan span = read_status(item);
        for (std::uint16_t status = span.first; status <= span.last; ++status) {
          rules.on_status.push_back(status);
        }
      }
    }
  }
  return rules;
}

/// Names whose value the tool reads for something else than a key.
bool says_something_else(std::string_view name) {
  constexpr std::string_view kTaken[] = {"content-length",
                                         "content-type",
                                         "content-encoding",
                                         "host",
                                         "date",
                                         "via",
                                         "expect",
                                         "authorization",
                                         "cookie",
                                         "traceparent",
                                         "x-forwarded-for",
                                         "x-forwarded-host",
                                         "x-forwarded-proto",
                                         "semel-fence",
                                         "range"};
  return std::any_of(std::begin(kTaken), std::end(kTaken),
                     [&](std::string_view taken) { return same_name(name, taken); });
}

ForwardKey read_forward_key(const Value& value) {
  ForwardKey forward;
  if (value.is_word("off")) {
    forward.value = ForwardKey::Value::Off;
    return forward;
  }
  const Mapping mapping = value.mapping(kForwardKeyGrammar);
  if (const auto header = mapping.find("header")) {
    forward.header = header->nonempty_text();
    if (!is_token(forward.header) || is_hop_by_hop(forward.header) ||
        says_something_else(forward.header)) {
      header->fail("\"" + forward.header +
                   "\" cannot carry a key; write a header name such as Idempotency-Key");
    }
  }
  if (const auto quoted = mapping.find("quoted")) forward.quoted = quoted->boolean();
  if (const auto fence = mapping.find("fence")) forward.fence = fence->boolean();
  if (const auto which = mapping.find("value")) {
    forward.value = which->word<ForwardKey::Value>(
        {{"derived", ForwardKey::Value::Derived}, {"client", ForwardKey::Value::Client}});
  }
  return forward;
}

}  // namespace semel::config
