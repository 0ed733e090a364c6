#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"

namespace semel::config {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::optional<EventLog> events_of(const std::string& said) {
  const auto nothing = [](const std::string&) { return std::optional<std::string>(); };
  return load_text(
             "version: 1\n"
             "listen: {address: \"127.0.0.1:0\"}\n"
             "store: {sqlite: {path: ./semel.db}}\n"
             "upstreams: {tools: {endpoints: [\"http://127.0.0.1:9000\"]}}\n"
             "routes: [{name: page, match: {path: /}, upstream: tools}]\n" +
                 said,
             "f.yaml", nothing)
      .events;
}

std::string error_of(const std::string& said) {
  try {
    static_cast<void>(events_of(said));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Events, TheTransitionLogIsOffUntilItIsAskedFor) {
  EXPECT_EQ(events_of(""), std::nullopt);
  EXPECT_EQ(events_of("events: off\n"), std::nullopt);
  EXPECT_EQ(events_of("events: {}\n"), (EventLog{seconds(7 * 86'400), 1'000'000}));
  EXPECT_EQ(events_of("events: {max_age: 36h, max_events: 5}\n"), (EventLog{seconds(129'600), 5}));
}

TEST(Events, WhatIsNoBoundIsRefused) {
  EXPECT_THAT(error_of("events: on\n"), HasSubstr("f.yaml:6:9: events: is no mapping"));
  EXPECT_THAT(error_of("events: {max_age: 500ms}\n"), HasSubstr("max_age: 500ms is out of range"));
  EXPECT_THAT(error_of("events: {max_age: 1500ms}\n"), HasSubstr("max_age: must be whole seconds"));
  EXPECT_THAT(error_of("events: {max_events: 0}\n"), HasSubstr("max_events: 0 is out of range"));
}

}  // namespace
}  // namespace semel::config
