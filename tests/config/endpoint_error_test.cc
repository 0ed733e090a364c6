#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load.h"

namespace semel::config {
namespace {

std::string error_of_endpoint(const std::string& endpoint) {
  try {
    static_cast<void>(load_text(
        "version: 1\nlisten: {address: \"127.0.0.1:0\"}\nstore: {memory: {}}\nupstreams:\n"
        "  tools: {endpoints: [\"" +
            endpoint + "\"]}\nroutes:\n  - {name: a, match: {path: /a}, upstream: tools}\n",
        "f.yaml", [](const std::string&) { return std::optional<std::string>(); }));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(EndpointError, ShowsNoPasswordAndNoQuery) {
  struct Row {
    const char* endpoint;
    const char* shown;
  };
  for (const Row& row : {
           Row{"http://me:hush@h:80", "\"http://...@h:80\": an endpoint has no user name"},
           Row{"http://me:hush@h@i", "\"http://...@i\": an endpoint has no user name"},
           Row{"me:hush/@h", "\"...@h\": is no endpoint"},
           Row{"http://h/a?key=hush", "\"http://h/a?...\": an endpoint has no path or query"},
           Row{"http://h/a?key=@hush", "\"http://h/a?...\": an endpoint has no path or query"},
           Row{"http://h/a", "\"http://h/a\": an endpoint has no path or query"},
       }) {
    const std::string error = error_of_endpoint(row.endpoint);
    EXPECT_THAT(error, testing::HasSubstr(row.shown));
    EXPECT_THAT(error, testing::Not(testing::HasSubstr("hush")));
  }
}

}  // namespace
}  // namespace semel::config
