#pragma once

#include <vector>

#include "tests/sim/tool_wire.h"
#include "tests/sim/world.h"

namespace semel::sim {

/// Somebody who looks after unknown outcomes. Knows what the tool did, says what is true, and
/// sometimes quotes a reference that is no longer current.
class Operator {
 public:
  Operator(World& world, const ToolWire& wire);
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  void begin();

 private:
  void look();
  void resolve(const RecordView& record);
  [[nodiscard]] bool happened_since_grant(const RecordView& record, std::uint32_t key) const;

  World& world_;
  const ToolWire& wire_;
  Dice dice_;
  std::vector<Reference> quoted_;
};

}  // namespace semel::sim
