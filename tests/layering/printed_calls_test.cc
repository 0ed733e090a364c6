// What README shows is what scripts/run prints and Tour.EveryPrintedCallGoesAsPrinted makes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/layering/source_file.h"

namespace semel::layering {
namespace {

std::string text_of(std::string_view path) {
  for (const SourceFile& file : read_tree(SEMEL_SOURCE_DIR)) {
    if (file.path == path) return file.text;
  }
  return {};
}

TEST(PrintedCalls, ReadmeShowsTheTourAsItIsMade) {
  const std::string tour = text_of("examples/tour.txt");
  ASSERT_THAT(tour, ::testing::HasSubstr("curl"));
  EXPECT_THAT(text_of("README.md"), ::testing::HasSubstr("```sh\n" + tour + "```\n"))
      << "copy examples/tour.txt into README.md again";
}

TEST(PrintedCalls, ReadmeShowsTheConfigurationThatTheyMeet) {
  const std::string configuration = text_of("examples/booking.yaml");
  const auto routes = configuration.find("  # A second booking");
  const auto rest = configuration.find("  # Setting a seat");
  ASSERT_LT(routes, rest);
  ASSERT_NE(rest, std::string::npos);
  EXPECT_THAT(text_of("README.md"),
              ::testing::HasSubstr(configuration.substr(routes, rest - routes)))
      << "copy the route `book` of examples/booking.yaml into README.md again";
}

}  // namespace
}  // namespace semel::layering
