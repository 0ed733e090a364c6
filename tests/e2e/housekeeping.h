#pragma once

#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"

namespace semel::testing {

/// Waits until housekeeping, which pauses for a second, has been round so often again: what it
/// could erase or mark in that time, it has.
inline void await_sweeps(const Gateway& gateway, int rounds) {
  const auto sweeps = [&] {
    return gateway.semel.metric("semel_store_operation_duration_seconds_count",
                                {{"operation", "sweep"}});
  };
  const double before = sweeps();
  ASSERT_TRUE(eventually([&] { return sweeps() >= before + rounds; }));
}

}  // namespace semel::testing
