#pragma once

#include "core/key.h"
#include "core/route.h"
#include "stores/claim_reply.h"

namespace semel::proxy {

/// The wish of one attempt to take the key of a request on `route`.
[[nodiscard]] inline ClaimRequest claim_request_of(const DerivedKey& key, const Route& route,
                                                   const ClaimToken& token,
                                                   const Reference& reference) {
  ClaimRequest request;
  request.key = key.key;
  request.token = token;
  request.reference = reference;
  request.bindings = key.bindings;
  request.policy = route.policy;
  request.tenant = key.tenant;
  request.route = route.name;
  request.lease = route.lease();
  request.retention = route.retention;
  request.indeterminate_retention = route.indeterminate_retention;
  return request;
}

}  // namespace semel::proxy
