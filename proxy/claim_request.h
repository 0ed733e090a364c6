#pragma once

#include <vector>

#include "core/key.h"
#include "core/key_versions.h"
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

/// What the request would be known by under the earlier key versions of its route.
[[nodiscard]] inline std::vector<EarlierKey> earlier_of(const KeyInputs& inputs,
                                                        const Route& route) {
  std::vector<EarlierKey> earlier;
  if (route.earlier.empty()) return earlier;
  for (const DerivedKey& key : earlier_keys(inputs)) earlier.push_back({key.key, key.bindings});
  return earlier;
}

}  // namespace semel::proxy
