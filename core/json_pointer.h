#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "core/value_tape.h"

namespace semel {

/// What a pointer names in a body.
struct Named {
  NodeIndex node;
};
struct NothingNamed {};
/// A member beside the named one differs from it by ASCII case only: a server that binds names
/// case-blind may read that one.
struct CaseTwin {};
/// The named member is absent, and one that differs from it by ASCII case only is there.
struct LoneTwin {};
/// The body's root has no members, so that the pointer cannot be meant for it.
struct NoObject {};
using PointerAnswer = std::variant<Named, NothingNamed, CaseTwin, LoneTwin, NoObject>;

/// Follows a JSON Pointer (RFC 6901) from the root. Member names compare in NFC.
/// @param pointer  Valid: the configuration was checked. Empty: the root itself.
[[nodiscard]] PointerAnswer find(const ValueTape& tape, std::string_view pointer);

}  // namespace semel
