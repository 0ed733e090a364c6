#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "tests/sim/hooks.h"

namespace semel::sim {

/// A mistake that somebody could make in the protocol, switched on at run time.
struct Mutant {
  std::string_view name;
  std::string_view sentence;  ///< What goes wrong.
  Hooks (*hooks)();
};

[[nodiscard]] std::span<const Mutant> all_mutants();

}  // namespace semel::sim
