// Expected values: date -u -d @SECONDS +%FT%T.
#include "proxy/utc_time.h"

#include <gtest/gtest.h>

namespace semel::proxy {
namespace {

std::string utc(std::int64_t milliseconds) {
  std::string out = "at ";
  append_utc(out, std::chrono::system_clock::time_point(std::chrono::milliseconds(milliseconds)));
  return out;
}

TEST(UtcTime, IsRfc3339WithMilliseconds) {
  EXPECT_EQ(utc(0), "at 1970-01-01T00:00:00.000Z");
  EXPECT_EQ(utc(1'760'000'000'007), "at 2025-10-09T08:53:20.007Z");
  EXPECT_EQ(utc(1'760'000'000'999), "at 2025-10-09T08:53:20.999Z");
  EXPECT_EQ(utc(951'827'696'120), "at 2000-02-29T12:34:56.120Z");
}

}  // namespace
}  // namespace semel::proxy
