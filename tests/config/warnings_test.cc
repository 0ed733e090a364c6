// Sentences of `check` and of the start about a configuration that is sound and may be unwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace semel::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> warnings_with(const std::string& policy, const std::string& record) {
  const std::string text =
      "version: 1\n"
      "listen: {address: \"127.0.0.1:0\"}\n"
      "store: {sqlite: {path: ./semel.db}}\n"
      "upstreams: {tool: {endpoints: [\"http://127.0.0.1:1\"]}}\n"
      "routes:\n"
      "  - name: book\n"
      "    match: {methods: [POST], path: /book}\n"
      "    upstream: tool\n"
      "    policy: " +
      policy +
      "\n"
      "    key: {tenant: {constant: acme}, run: {header: X-Run-Id}, fields: [/flight]}\n"
      "    record: " +
      record + "\n";
  return load_text(text, "f.yaml", [](const std::string&) { return std::nullopt; }).warnings;
}

TEST(Warnings, FreeingTheKeyAfterAnAnswerThatMayFollowAnEffectIsWarnedOf) {
  const std::string record = "{release_on: [202, 404, 503]}";
  EXPECT_THAT(warnings_with("EFFECTFUL", record),
              ElementsAre(HasSubstr(
                  "f.yaml:11:13: route book: release_on: after 202, 503 a repetition runs again")));
  EXPECT_THAT(warnings_with("IDEMPOTENT", record), IsEmpty());
  EXPECT_THAT(warnings_with("EFFECTFUL", "{release_on: [404, 429]}"), IsEmpty());
}

}  // namespace
}  // namespace semel::config
