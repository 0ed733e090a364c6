#include "stores/postgres_questions.h"

#include <string>

#include "stores/postgres_words.h"
#include "stores/record_codec.h"

namespace semel::postgres {
namespace {

PgValue disowned_of(const ClaimRequest& request) {
  if (request.disowned.empty()) return std::nullopt;
  std::vector<PgValue> tokens;
  for (const ClaimToken& token : request.disowned) tokens.push_back(pg_id(token));
  return pg_array(PgType::Bytea, tokens);
}

/// Four arrays: the keys, and the three bindings of each.
void add_earlier(const ClaimRequest& request, std::vector<PgValue>& params) {
  if (request.earlier.empty()) {
    params.resize(params.size() + 4);
    return;
  }
  std::vector<PgValue> keys, callers, guards, fingerprints;
  for (const EarlierKey& earlier : request.earlier) {
    keys.push_back(pg_key(earlier.key));
    callers.push_back(pg_digest(earlier.bindings.caller));
    guards.push_back(pg_digest(earlier.bindings.guards));
    fingerprints.push_back(pg_digest(earlier.bindings.fingerprint));
  }
  params.push_back(pg_array(PgType::Bytea, keys));
  params.push_back(pg_array(PgType::Bytea, callers));
  params.push_back(pg_array(PgType::Bytea, guards));
  params.push_back(pg_array(PgType::Bytea, fingerprints));
}

}  // namespace

std::vector<PgValue> claim_question(const Meeting& meeting, const ClaimingAs& as,
                                    const ClaimRequest& request,
                                    const std::optional<Attempt>& abandoned) {
  const Meeting::Known known = meeting.highest();
  std::vector<PgValue> params;
  params.reserve(28);
  params.emplace_back(as.store_id);
  params.emplace_back(meeting.writer());
  params.push_back(pg_int4(static_cast<std::int32_t>(as.lane)));
  params.push_back(pg_int4(static_cast<std::int32_t>(known.lane)));
  params.push_back(pg_fence(known.fence));
  params.push_back(pg_int8(meeting.acknowledgements()));
  params.push_back(pg_time(meeting.latest()));
  params.push_back(pg_time(as.not_after));
  params.push_back(pg_bool(as.tells));
  params.push_back(pg_key(request.key));
  params.push_back(pg_id(request.token));
  params.push_back(pg_id(request.reference));
  params.push_back(pg_digest(request.bindings.caller));
  params.push_back(pg_digest(request.bindings.guards));
  params.push_back(pg_digest(request.bindings.fingerprint));
  params.emplace_back(name(request.policy));
  params.emplace_back(request.tenant);
  params.emplace_back(request.route);
  params.push_back(pg_span(request.lease));
  params.push_back(pg_span(request.retention));
  params.push_back(pg_span(request.indeterminate_retention));
  params.push_back(disowned_of(request));
  add_earlier(request, params);
  params.push_back(abandoned ? pg_id(abandoned->token) : PgValue());
  params.push_back(abandoned ? pg_fence(abandoned->fence) : PgValue());
  return params;
}

std::vector<PgValue> attempt_question(const Attempt& attempt) {
  return {pg_key(attempt.key), pg_id(attempt.token), pg_fence(attempt.fence)};
}

std::vector<PgValue> adopt_question(const std::vector<RouteTerms>& routes, StoreTime not_after) {
  std::vector<PgValue> names, policies, retentions, indeterminate_retentions;
  for (const RouteTerms& route : routes) {
    if (!is_keyed(route.policy)) continue;
    names.emplace_back(route.name);
    policies.emplace_back(name(route.policy));
    retentions.push_back(pg_span(route.retention));
    indeterminate_retentions.push_back(pg_span(route.indeterminate_retention));
  }
  return {PgValue(encode_terms(routes)),
          pg_array(PgType::Bytea, names),
          pg_array(PgType::Text, policies),
          pg_array(PgType::Int8, retentions),
          pg_array(PgType::Int8, indeterminate_retentions),
          pg_time(not_after)};
}

}  // namespace semel::postgres
