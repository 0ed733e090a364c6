// From what a tool said to what is kept of it. Called by proxy/exchange, proxy/late_call
// and proxy/shadow.
#include "proxy/answer_draft.h"

#include <algorithm>

#include "core/header_rules.h"
#include "proxy/hop_fields.h"

namespace semel::proxy {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& each) { return same_name(each, name); });
}

}  // namespace

void AnswerDraft::keep(std::string_view piece, const RecordRules& rules, BufferBudget& budget) {
  if (dropped) return;
  body.append(piece);
  const bool is_long = body.size() > kWholeMax;
  if (is_long && !share.is_granted()) share = budget.take(rules.body_bytes_max);
  // Without room in memory the answer flows all the same; only its record will be bare.
  const bool has_room = !is_long || share.is_granted();
  if (rules.keep_body && body.size() <= rules.body_bytes_max && has_room) return;
  dropped = true;
  body = std::string();
}

bool is_retried(std::uint16_t status, const Route& route) {
  const auto& retried = route.retry.on_status;
  return std::find(retried.begin(), retried.end(), status) != retried.end();
}

Event verdict(std::uint16_t status, const Route& route) {
  if (route.record.release_on.test(status)) return Event::AnsweredRefusal;
  if (route.record.indeterminate_on.test(status)) return Event::AnsweredFailure;
  if (route.policy == Policy::Idempotent && is_retried(status, route)) {
    return Event::AnsweredFailure;
  }
  return Event::Answered;
}

IndeterminateReason unknown_because(CallFailure failure) {
  switch (failure) {
    case CallFailure::None:
      return IndeterminateReason::UpstreamStatus;
    case CallFailure::Timeout:
      return IndeterminateReason::Timeout;
    case CallFailure::Malformed:
      return IndeterminateReason::Malformed;
    case CallFailure::Cut:
    case CallFailure::Unreachable:
    case CallFailure::NoSlot:
    case CallFailure::TooLate:
    case CallFailure::Withheld:
      return IndeterminateReason::Cut;
  }
  return IndeterminateReason::Internal;
}

StoredResponsePtr stored_form(const UpstreamCall& call, const Route& route, AnswerDraft& draft) {
  auto stored = std::make_shared<StoredResponse>();
  const ResponseHead& head = call.head();
  stored->status = head.status;
  stored->unframed = call.ended_at_close();
  std::size_t bytes = 0;
  for (const HeaderField& field : head.fields.all()) {
    bytes += field.name.size() + field.value.size() + 4;
  }
  stored->fields.reserve(bytes);
  for (const HeaderField& field : head.fields.all()) {
    if (!is_stored(field.name) && !contains(route.replay_headers_add, field.name)) continue;
    if (contains(route.replay_headers_remove, field.name)) continue;
    if (ends_at_this_hop(head, field.name)) continue;
    stored->fields.push_back(field);
  }
  const bool kept =
      !draft.dropped && route.record.keep_body && draft.body.size() <= route.record.body_bytes_max;
  stored->kept = kept ? BodyKept::Kept : BodyKept::NotKept;
  if (kept) stored->body = std::move(draft.body);
  return stored;
}

StoredResponsePtr bare_form(const StoredResponse& answer) {
  auto bare = std::make_shared<StoredResponse>();
  bare->status = answer.status;
  bare->kept = BodyKept::NotKept;
  bare->unframed = answer.unframed;
  bare->fields = answer.fields;
  return bare;
}

}  // namespace semel::proxy
