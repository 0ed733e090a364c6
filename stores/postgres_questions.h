#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/route_terms.h"
#include "stores/claim_reply.h"
#include "stores/pg_value.h"
#include "stores/postgres_meeting.h"

namespace semel::postgres {

/// What each claim says beside what is claimed.
struct ClaimingAs {
  std::string store_id;  ///< The store that the process knows.
  std::size_t lane = 0;
  StoreTime not_after{0};
  bool tells = false;  ///< Whether transitions are written down as events.
};
/// The parameters of kClaim. @param abandoned  Of a supersede.
[[nodiscard]] std::vector<PgValue> claim_question(const Meeting& meeting, const ClaimingAs& as,
                                                  const ClaimRequest& request,
                                                  const std::optional<Attempt>& abandoned);
/// The first parameters of all that name an attempt.
[[nodiscard]] std::vector<PgValue> attempt_question(const Attempt& attempt);
/// The parameters of kAdopt.
[[nodiscard]] std::vector<PgValue> adopt_question(const std::vector<RouteTerms>& routes,
                                                  StoreTime not_after);

}  // namespace semel::postgres
