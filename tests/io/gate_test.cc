#include "io/gate.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace semel {
namespace {

TEST(Gate, CountsWhoIsInside) {
  Gate gate;
  EXPECT_EQ(gate.held(), 0U);
  std::optional<Gate::Pass> first(gate.enter());
  std::optional<Gate::Pass> second(gate.enter());
  EXPECT_EQ(gate.held(), 2U);
  first.reset();
  EXPECT_EQ(gate.held(), 1U);
  second.reset();
  EXPECT_EQ(gate.held(), 0U);
}

TEST(Gate, APassThatIsHandedOnIsStillOnePass) {
  Gate gate;
  {
    Gate::Pass first = gate.enter();
    const Gate::Pass second = std::move(first);
    EXPECT_EQ(gate.held(), 1U);
  }
  EXPECT_EQ(gate.held(), 0U);
}

TEST(Gate, TellsEachTimeThatTheLastOneHasLeft) {
  Gate gate;
  int emptied = 0;
  gate.on_empty([&] { ++emptied; });
  {
    const Gate::Pass outer = gate.enter();
    {
      const Gate::Pass inner = gate.enter();
    }
    EXPECT_EQ(emptied, 0);
  }
  EXPECT_EQ(emptied, 1);
  {
    const Gate::Pass again = gate.enter();
  }
  EXPECT_EQ(emptied, 2);
}

TEST(Gate, WhoeverIsToldMayEnterAgain) {
  Gate gate;
  std::vector<Gate::Pass> again;
  int emptied = 0;
  gate.on_empty([&] {
    if (++emptied == 1) again.push_back(gate.enter());
  });
  {
    const Gate::Pass first = gate.enter();
  }
  EXPECT_EQ(gate.held(), 1U);
  again.clear();
  EXPECT_EQ(gate.held(), 0U);
  EXPECT_EQ(emptied, 2);
}

TEST(GateDeathTest, MayNotEndBeforeTheLastOneHasLeft) {
  EXPECT_DEATH(
      {
        std::optional<Gate> gate(std::in_place);
        const Gate::Pass inside = gate->enter();
        gate.reset();
      },
      "");
}

}  // namespace
}  // namespace semel
