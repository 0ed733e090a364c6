// The published schema and the reader must take the same keys. JSON is YAML: the schema is read by
// the project's own strict reader.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "config/grammar.h"
#include "config/load.h"
#include "config/yaml_tree.h"

namespace semel::config {
namespace {

using testing::HasSubstr;
using testing::Not;

std::optional<std::string> nothing(const std::string&) { return std::nullopt; }

const YamlNode& member(const YamlNode& node, std::string_view key) {
  static const YamlNode kMissing;
  for (const YamlMember& entry : node.members) {
    if (entry.key == key) return entry.value;
  }
  ADD_FAILURE() << "no member " << key;
  return kMissing;
}

std::set<std::string> keys_of(const YamlNode& node) {
  std::set<std::string> keys;
  for (const YamlMember& entry : node.members) keys.insert(entry.key);
  return keys;
}

void collect_references(const YamlNode& node, std::set<std::string>& references) {
  for (const YamlNode& item : node.items) collect_references(item, references);
  for (const YamlMember& entry : node.members) {
    if (entry.key == "$ref") references.insert(entry.value.text);
    collect_references(entry.value, references);
  }
}

class Schema : public testing::Test {
 protected:
  YamlNode root_ = read_yaml(json_schema(), "schema", nothing);
};

TEST_F(Schema, IsDraft202012AndForbidsUnknownKeysEverywhere) {
  EXPECT_EQ(member(root_, "$schema").text, "https://json-schema.org/draft/2020-12/schema");
  for (const MappingGrammar* grammar : all_mappings()) {
    const YamlNode& definition =
        grammar == all_mappings()[0] ? root_ : member(member(root_, "$defs"), grammar->name);
    EXPECT_EQ(member(definition, "additionalProperties").text, "false") << grammar->name;
    std::set<std::string> expected;
    for (const Key& key : grammar->keys) expected.emplace(key.name);
    EXPECT_EQ(keys_of(member(definition, "properties")), expected) << grammar->name;
  }
}

TEST_F(Schema, EveryReferenceLeadsToADefinitionAndEveryDefinitionIsUsed) {
  std::set<std::string> references;
  collect_references(root_, references);
  std::set<std::string> definitions;
  for (const std::string& name : keys_of(member(root_, "$defs"))) {
    definitions.insert("#/$defs/" + name);
  }
  EXPECT_EQ(references, definitions);
}

TEST(SchemaFile, ThePublishedFileIsWhatTheProgramPrints) {
  std::ifstream stream(SEMEL_SOURCE_DIR "/docs/config.schema.json");
  std::ostringstream published;
  published << stream.rdbuf();
  EXPECT_EQ(published.str(), json_schema())
      << "after a change of the grammar: semel schema > docs/config.schema.json";
}

/// A place in a document where one kind of mapping may stand, `@` in `document`.
struct Spot {
  std::string mapping;
  std::vector<std::string> siblings;  ///< `key: value` each, dropped where the key is under test.
  std::string document;
};

constexpr const char* kHead =
    "version: 1, listen: {address: \"h:1\", tls: {certificate: c, key: k, client_ca: a}}, "
    "store: {sqlite: {path: p}}, upstreams: {u: {endpoints: [\"http://h:1\"]}}";
constexpr const char* kRoutes = "routes: [{name: r, match: {path: /}, upstream: u}]";
constexpr const char* kKeyed =
    "name: r, match: {methods: [POST], path: /}, upstream: u, policy: IDEMPOTENT";

std::string in_top(const std::string& text) {
  return "{version: 1, listen: {address: \"h:1\"}, upstreams: {u: {endpoints: "
         "[\"http://h:1\"]}}, " +
         std::string(kRoutes) + ", " + text + "}";
}
std::string in_route(const std::string& text) {
  return "{" + std::string(kHead) + ", routes: [{" + kKeyed + ", " + text + "}]}";
}
std::string in_keyed(const std::string& text) {
  return in_route("key: {tenant: {constant: t}, run: none}, " + text);
}

std::vector<Spot> spots() {
  const std::string store = "store: {sqlite: {path: p}}";
  const std::string other_head = "{version: 1, " + store + ", " + kRoutes + ", ";
  const std::string upstreams = "upstreams: {u: {endpoints: [\"https://h:1\"]}}";
  return {
      {"configuration",
       {"version: 1", "listen: {address: \"h:1\"}", store, upstreams, kRoutes},
       "@"},
      {"listen", {"address: \"h:1\""}, other_head + upstreams + ", listen: @}"},
      {"listen_tls",
       {"certificate: c", "key: k"},
       other_head + upstreams + ", listen: {address: \"h:1\", tls: @}}"},
      {"metrics", {"address: \"h:1\""}, in_top(store + ", metrics: @")},
      {"admin", {"address: \"h:1\""}, in_top(store + ", admin: @")},
      {"access_log", {"path: p"}, in_top(store + ", access_log: @")},
      {"limits", {}, in_top(store + ", limits: @")},
      {"store", {}, in_top("store: @")},
      {"memory", {}, in_top("store: {memory: @}")},
      {"sqlite", {"path: p"}, in_top("store: {sqlite: @}")},
      {"redis", {"url: \"redis://h\""}, in_top("store: {redis: @}")},
      {"sentinel",
       {"master: m", "addresses: [\"h:1\"]"},
       in_top("store: {redis: {url: \"redis://h\", sentinel: @}}")},
      {"redis_tls", {}, in_top("store: {redis: {url: \"rediss://h\", tls: @}}")},
      {"postgres", {"url: \"postgres://h\""}, in_top("store: {postgres: @}")},
      {"events", {}, in_top(store + ", events: @")},
      {"upstream",
       {"endpoints: [\"https://h:1\"]"},
       other_head + "listen: {address: \"h:1\"}, upstreams: {u: @}}"},
      {"upstream_tls",
       {},
       other_head +
           "listen: {address: \"h:1\"}, upstreams: {u: {endpoints: [\"https://h:1\"], tls: @}}}"},
      {"defaults", {}, in_top(store + ", defaults: @")},
      {"match",
       {"methods: [POST]", "path: /"},
       "{" + std::string(kHead) + ", routes: [{name: r, upstream: u, match: @}]}"},
      {"key", {"tenant: {constant: t}", "run: none"}, in_route("key: @")},
      {"record", {}, in_keyed("record: @")},
      {"replay_headers", {}, in_keyed("record: {headers: @}")},
      {"forward_key", {}, in_keyed("forward_key: @")},
      {"retry", {}, in_keyed("retry: @")},
      {"request", {}, in_keyed("request: @")},
  };
}

/// A list in a list is wrong under every key: an error that does not call the key unknown shows
/// that the reader looked at it.
std::string error_with(const Spot& spot, std::string_view key) {
  std::string mapping = "{" + std::string(key) + ": [[]]";
  for (const std::string& sibling : spot.siblings) {
    if (!sibling.starts_with(std::string(key) + ":")) mapping += ", " + sibling;
  }
  std::string text = spot.document;
  text.replace(text.find('@'), 1, mapping + "}");
  try {
    static_cast<void>(load_text(text, "f", nothing));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted: " + text;
}

TEST(SchemaAndReader, EveryPublishedKeyIsReallyRead) {
  std::vector<Spot> all = spots();
  for (const char* key : {"name",
                          "match",
                          "upstream",
                          "policy",
                          "key",
                          "client_key",
                          "on_duplicate",
                          "wait",
                          "dispatch_by",
                          "timeout",
                          "stream_timeout",
                          "settle",
                          "lease_margin",
                          "retention",
                          "indeterminate_retention",
                          "redelivery_horizon",
                          "record",
                          "forward_key",
                          "mode",
                          "on_store_down",
                          "retry",
                          "request",
                          "host",
                          "upgrade",
                          "allow_escapes"}) {
    const bool is_plain = std::string(key) == "upgrade" || std::string(key) == "allow_escapes";
    Spot spot{"route", {"name: r", "match: {methods: [POST], path: /}", "upstream: u"}, ""};
    spot.document = "{" + std::string(kHead) + ", routes: [@]}";
    if (!is_plain) {
      spot.siblings.emplace_back("policy: IDEMPOTENT");
      spot.siblings.emplace_back("key: {tenant: {constant: t}, run: none}");
    }
    EXPECT_THAT(error_with(spot, key), testing::AllOf(HasSubstr(key), Not(HasSubstr("unknown key")),
                                                      Not(HasSubstr("accepted"))));
  }
  for (const MappingGrammar* grammar : all_mappings()) {
    if (grammar->name == "route" || grammar->name == "source") continue;  // Above; source_test.cc.
    const auto spot = std::find_if(all.begin(), all.end(),
                                   [&](const Spot& s) { return s.mapping == grammar->name; });
    ASSERT_NE(spot, all.end()) << grammar->name;
    for (const Key& key : grammar->keys) {
      EXPECT_THAT(error_with(*spot, key.name),
                  testing::AllOf(HasSubstr(std::string(key.name)), Not(HasSubstr("unknown key")),
                                 Not(HasSubstr("accepted"))))
          << grammar->name;
    }
  }
}

TEST(SchemaAndDocs, EveryKeyIsExplainedInTheConfigurationPage) {
  std::ifstream stream(SEMEL_SOURCE_DIR "/docs/configuration.md");
  std::ostringstream page;
  page << stream.rdbuf();
  for (const MappingGrammar* grammar : all_mappings()) {
    for (const Key& key : grammar->keys) {
      EXPECT_THAT(page.str(), HasSubstr("| `" + std::string(key.name) + "` |")) << grammar->name;
    }
  }
}

}  // namespace
}  // namespace semel::config
