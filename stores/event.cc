#include "stores/event.h"

#include <array>

namespace semel {
namespace {

constexpr std::array kKinds{EventKind::Claimed,       EventKind::Completed, EventKind::Released,
                            EventKind::Indeterminate, EventKind::Resolved,  EventKind::Expired};

}  // namespace

std::string_view name(EventKind kind) {
  switch (kind) {
    case EventKind::Claimed:
      return "claimed";
    case EventKind::Completed:
      return "completed";
    case EventKind::Released:
      return "released";
    case EventKind::Indeterminate:
      return "indeterminate";
    case EventKind::Resolved:
      return "resolved";
    case EventKind::Expired:
      return "expired";
  }
  return "unknown";
}

std::optional<EventKind> event_kind_of(std::string_view word) {
  for (const EventKind kind : kKinds) {
    if (name(kind) == word) return kind;
  }
  return std::nullopt;
}

}  // namespace semel
