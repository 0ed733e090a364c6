// What the operator wrote and no error may show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "config/yaml_reader.h"

namespace semel::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The error about a configuration that is sound but for these lines.
std::string error_with(const std::string& lines) {
  const std::string text = "version: 1\nlisten: {address: \"127.0.0.1:0\"}\n" + lines +
                           "upstreams: {tool: {endpoints: [\"http://127.0.0.1:1\"]}}\n"
                           "routes: [{name: files, match: {path: /files/*}, upstream: tool}]\n";
  try {
    static_cast<void>(load_text(text, "f.yaml", [](const std::string& name) {
      return name == "TOKEN" ? std::optional<std::string>("a secret") : std::nullopt;
    }));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Secrets, AnAdminTokenIsNotQuotedInErrors) {
  const std::string store = "store: {memory: {}}\nadmin: {address: \"127.0.0.1:1\", token: ";
  EXPECT_THAT(error_with(store + "\"${TOKEN}\"}\n"),
              AllOf(HasSubstr("token: has characters"), Not(HasSubstr("a secret"))));
  EXPECT_THAT(error_with(store + "480151623}\n"),
              AllOf(HasSubstr("token: is no text in YAML"), Not(HasSubstr("480151623"))));
}

TEST(Secrets, AStoresUrlIsNotQuotedInErrors) {
  EXPECT_THAT(error_with("store: {redis: {url: \"http://:pw@h\"}}\n"),
              AllOf(HasSubstr("url: is no URL of this store"), Not(HasSubstr("pw"))));
}

}  // namespace
}  // namespace semel::config
