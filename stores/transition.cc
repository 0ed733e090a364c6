#include "stores/transition.h"

#include <utility>

namespace semel {

TransitionEvent event_of(const Transition& transition, std::string position) {
  TransitionEvent event;
  event.position = std::move(position);
  event.kind = transition.kind;
  event.key = transition.key;
  event.reference = transition.reference;
  event.fence = transition.fence;
  event.policy = transition.terms->policy;
  event.tenant = transition.terms->tenant;
  event.route = transition.terms->route;
  event.reason = transition.reason;
  event.status = transition.status;
  event.happened = transition.happened;
  event.at = transition.at;
  return event;
}

}  // namespace semel
