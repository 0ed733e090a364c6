#pragma once

#include <string>

#include "stores/event.h"

namespace semel::proxy {

/// Appends one event as its readers get it, a JSON object on one line (docs/http-surface.md,
/// "The transition log"). All 64 digits of the key: readers tell keys apart by them, and know those
/// of their own calls by docs/key-format.md.
void append_event(std::string& out, const TransitionEvent& event);

/// The same as a server-sent event: `id` is the position, `event` the kind, `data` the object.
/// @source WHATWG HTML, "Server-sent events".
void append_server_sent(std::string& out, const TransitionEvent& event);

}  // namespace semel::proxy
