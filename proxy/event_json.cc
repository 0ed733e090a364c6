#include "proxy/event_json.h"

#include "core/json_object.h"
#include "proxy/utc_time.h"

namespace semel::proxy {

void append_event(std::string& out, const TransitionEvent& event) {
  JsonObject object(out);
  object.text("position", event.position);
  object.text("kind", name(event.kind));
  std::string at;
  append_utc(at, event.at);
  object.text("at", at);
  object.text("key", to_hex(event.key));
  object.text("reference", to_hex(event.reference));
  object.number("fence", event.fence.value);
  object.text("policy", name(event.policy));
  object.text("tenant", event.tenant);
  object.text("route", event.route);
  if (event.reason) object.text("reason", name(*event.reason));
  if (event.status) {
    // Of an unknown outcome it is what the tool answered, and no answer of the call.
    const bool is_answer = event.kind != TransitionKind::Indeterminate;
    object.number(is_answer ? "status" : "upstream_status", *event.status);
  }
  if (event.happened) object.text("decision", *event.happened ? "happened" : "did_not_happen");
  object.end();
}

void append_server_sent(std::string& out, const TransitionEvent& event) {
  out.append("id: ").append(event.position);
  out.append("\nevent: ").append(name(event.kind));
  out.append("\ndata: ");
  append_event(out, event);
  out.append("\n\n");
}

}  // namespace semel::proxy
