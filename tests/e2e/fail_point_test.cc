#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"

namespace semel::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The names of all that a program defines or calls, and the texts in it.
std::string inside_of(const std::string& binary) {
  const Finished symbols = run({"/usr/bin/nm", "--demangle", binary});
  if (!symbols.exit || symbols.exit->code != 0) throw std::runtime_error("nm: " + symbols.err);
  return symbols.out + read_file(binary);
}

TEST(FailPoint, TheProgramThatIsShippedHasNone) {
  const std::string shipped = inside_of(semel_binary());
  EXPECT_THAT(shipped, HasSubstr("semel::proxy::Exchange::claim")) << "nm sees the proxy";
  EXPECT_THAT(shipped, Not(HasSubstr("semel::proxy::fail_point")));
  EXPECT_THAT(shipped, Not(HasSubstr("SEMEL_FAIL_POINTS")));
  const std::string tested = inside_of(SEMEL_BINARY_DIR "/semel_failpoints");
  EXPECT_THAT(tested, HasSubstr("semel::proxy::fail_point"));
  EXPECT_THAT(tested, HasSubstr("SEMEL_FAIL_POINTS"));
}

}  // namespace
}  // namespace semel::testing
