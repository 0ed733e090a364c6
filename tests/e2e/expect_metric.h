#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/e2e/gateway.h"

namespace semel::testing {

using Labels = std::map<std::string, std::string>;

/// Waits until the metric has that value. What an exchange adds to the counters of its end
/// (requests, duplicates, durations) it adds after the last byte of its answer, so a caller that
/// has the answer may be early.
inline void expect_metric(const Gateway& gateway, const char* name, const Labels& labels,
                          double value) {
  const auto read = [&] { return gateway.semel.metric(name, labels); };
  EXPECT_TRUE(eventually([&] { return read() == value; }))
      << name << " is " << read() << " in place of " << value;
}

}  // namespace semel::testing
