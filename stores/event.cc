#include "stores/event.h"

#include <array>

namespace semel {
namespace {

constexpr std::array kKinds{TransitionKind::Claimed,  TransitionKind::Completed,
                            TransitionKind::Released, TransitionKind::Indeterminate,
                            TransitionKind::Resolved, TransitionKind::Expired};

}  // namespace

std::string_view name(TransitionKind kind) {
  switch (kind) {
    case TransitionKind::Claimed:
      return "claimed";
    case TransitionKind::Completed:
      return "completed";
    case TransitionKind::Released:
      return "released";
    case TransitionKind::Indeterminate:
      return "indeterminate";
    case TransitionKind::Resolved:
      return "resolved";
    case TransitionKind::Expired:
      return "expired";
  }
  return "unknown";
}

std::optional<TransitionKind> transition_kind_of(std::string_view word) {
  for (const TransitionKind kind : kKinds) {
    if (name(kind) == word) return kind;
  }
  return std::nullopt;
}

}  // namespace semel
