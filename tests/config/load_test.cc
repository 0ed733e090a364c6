#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace semel::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::optional<std::string> lookup(const std::string& name) {
  if (name == "RECORDS") return "7";
  if (name == "VOLATILE") return "true";
  if (name == "TOKEN") return "a secret";
  return std::nullopt;
}

constexpr const char* kServer =
    "version: 1\n"
    "listen: {address: \"127.0.0.1:0\"}\n"
    "store: {sqlite: {path: ./semel.db}}\n"
    "upstreams:\n"
    "  tools: {endpoints: [\"http://127.0.0.1:9000\"]}\n";
constexpr const char* kKeyed =
    "    key: {tenant: {header: X-Tenant-Id}, run: {header: X-Run-Id}, fields: [/flight]}\n";

std::string route(const std::string& policy, const std::string& rest) {
  return "  - name: book\n"
         "    match: {methods: [POST], path: /tools/book}\n"
         "    upstream: tools\n" +
         (policy.empty() ? "" : "    policy: " + policy + "\n") + rest;
}

Config load(const std::string& text) { return load_text(text, "f.yaml", lookup); }

Config load_routes(const std::string& routes) { return load(kServer + ("routes:\n" + routes)); }

/// The message of a refusal; of an accepted text that it was accepted.
std::string error_of(const std::string& text) {
  try {
    static_cast<void>(load(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}
std::string error_of_routes(const std::string& routes) {
  return error_of(kServer + ("routes:\n" + routes));
}
std::string error_with_server(const std::string& replaced, const std::string& by) {
  std::string text = kServer + ("routes:\n" + route("", ""));
  text.replace(text.find(replaced), replaced.size(), by);
  return error_of(text);
}

TEST(Load, TheExampleIsReadAsTheSpecificationSays) {
  const Config config = load_file(SEMEL_SOURCE_DIR "/config/semel.example.yaml", lookup);
  EXPECT_THAT(config.warnings, IsEmpty());
  EXPECT_EQ(config.listen.address.text(), "0.0.0.0:8080");
  EXPECT_EQ(config.metrics->text(), "0.0.0.0:9100");
  EXPECT_EQ(config.admin->address.text(), "127.0.0.1:9080");
  EXPECT_EQ(config.admin->token, "");
  EXPECT_EQ(config.workers, 0u);
  EXPECT_EQ(std::get<SqliteStore>(config.store).path, "./semel.db");
  ASSERT_EQ(config.upstreams.size(), 1u);
  EXPECT_EQ(config.upstreams[0].endpoints.at(0).authority, "127.0.0.1:9000");
  ASSERT_EQ(config.routes.size(), 2u);

  const Route& book = config.routes[0];
  EXPECT_EQ(book.name, "book");
  EXPECT_EQ(book.policy, Policy::Effectful);
  EXPECT_EQ(book.key.tenant, (ValueSource{ValueSource::From::Header, "X-Tenant-Id", false}));
  EXPECT_EQ(book.key.run, (ValueSource{ValueSource::From::Header, "X-Run-Id", false}));
  EXPECT_THAT(book.key.fields, ElementsAre(ValueSource{ValueSource::From::Body, "/flight", false}));
  EXPECT_THAT(book.key.guards, ElementsAre(ValueSource{ValueSource::From::Body, "/amount", false}));
  EXPECT_EQ(book.key.caller, (ValueSource{ValueSource::From::Header, "X-Caller", false}));
  EXPECT_EQ(book.lease(), seconds(125));
  EXPECT_EQ(book.retention, seconds(86'400));
  EXPECT_EQ(book.indeterminate_retention, std::nullopt);

  const Route& fare = config.routes[1];
  EXPECT_EQ(fare.policy, Policy::ReadOnly);
  EXPECT_EQ(fare.retry.attempts, 3);
  EXPECT_EQ(fare.retry.backoff, milliseconds(100));
  EXPECT_EQ(fare.retry.budget_percent, 20);
  EXPECT_TRUE(fare.retry.on_connect);
  EXPECT_TRUE(fare.retry.on_reset);
  EXPECT_THAT(fare.retry.on_status, ElementsAre(502, 503, 504));
}

TEST(Load, TheExampleWritesOutTheDefaults) {
  const Config written = load_file(SEMEL_SOURCE_DIR "/config/semel.example.yaml", lookup);
  const Config silent = load_routes(route("EFFECTFUL", kKeyed));
  const Route& a = written.routes.at(0);
  const Route& b = silent.routes.at(0);
  EXPECT_EQ(a.key.client_key, b.key.client_key);
  EXPECT_EQ(a.on_duplicate, b.on_duplicate);
  EXPECT_EQ(a.wait, b.wait);
  EXPECT_EQ(a.dispatch_by, b.dispatch_by);
  EXPECT_EQ(a.timeout, b.timeout);
  EXPECT_EQ(a.stream_timeout, b.stream_timeout);
  EXPECT_EQ(a.settle, b.settle);
  EXPECT_EQ(a.lease_margin, b.lease_margin);
  EXPECT_EQ(a.retention, b.retention);
  EXPECT_EQ(a.indeterminate_retention, b.indeterminate_retention);
  EXPECT_EQ(a.record.release_on, b.record.release_on);
  EXPECT_EQ(a.record.indeterminate_on, b.record.indeterminate_on);
  EXPECT_EQ(a.record.body_bytes_max, b.record.body_bytes_max);
  EXPECT_EQ(a.forward_key.header, b.forward_key.header);
  EXPECT_EQ(a.forward_key.value, b.forward_key.value);
  EXPECT_EQ(a.mode, b.mode);
}

TEST(Load, IdempotentRoutesForgetSoon) {
  const Config config = load_routes(route("IDEMPOTENT", kKeyed));
  EXPECT_EQ(config.routes[0].retention, seconds(600));
  EXPECT_EQ(config.routes[0].indeterminate_retention, seconds(600));
  EXPECT_EQ(config.routes[0].retry.attempts, 3);
}

TEST(Load, OnlyRepeatableRoutesRetryByDefault) {
  EXPECT_EQ(load_routes(route("EFFECTFUL", kKeyed)).routes[0].retry.attempts, 1);
  EXPECT_EQ(load_routes(route("", "")).routes[0].retry.attempts, 1);
  EXPECT_EQ(load_routes(route("READ_ONLY", "")).routes[0].retry.attempts, 3);
  EXPECT_EQ(load_routes(route("READ_ONLY", "    retry: off\n")).routes[0].retry.attempts, 1);
}

TEST(Load, StreamTimeoutFollowsTimeout) {
  const Config config = load_routes(route("EFFECTFUL", std::string(kKeyed) + "    timeout: 7s\n"));
  EXPECT_EQ(config.routes[0].stream_timeout, seconds(7));
}

TEST(Load, ARouteOverridesDefaultsAndDefaultsOverrideTheProgram) {
  const Config config = load(std::string(kServer) +
                             "defaults: {retention: 48h, timeout: 10s, on_duplicate: reject}\n"
                             "routes:\n" +
                             route("EFFECTFUL", std::string(kKeyed) + "    timeout: 5s\n"));
  EXPECT_EQ(config.routes[0].retention, seconds(172'800));
  EXPECT_EQ(config.routes[0].timeout, seconds(5));
  EXPECT_EQ(config.routes[0].on_duplicate, OnDuplicate::Reject);
}

TEST(Load, DefaultsAreCheckedEvenWhereNoRouteAsks) {
  EXPECT_THAT(
      error_of(std::string(kServer) + "defaults: {retention: soon}\nroutes:\n" + route("", "")),
      HasSubstr("f.yaml:6:23: retention: soon is no duration"));
}

TEST(Load, TheClientsKeyCountsWhereNoFieldsAreNamed) {
  const std::string whole = "    key: {tenant: {constant: acme}, run: {header: X-Run-Id}}\n";
  EXPECT_EQ(load_routes(route("EFFECTFUL", whole)).routes[0].key.client_key, ClientKey::Optional);
  EXPECT_EQ(load_routes(route("EFFECTFUL", kKeyed)).routes[0].key.client_key, ClientKey::Ignore);
}

TEST(Load, ARequiredClientKeyNeedsNoRun) {
  const Config config = load_routes(
      route("EFFECTFUL", "    key: {tenant: {constant: acme}}\n    client_key: required\n"));
  EXPECT_EQ(config.routes[0].key.run, std::nullopt);
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(Load, RunNoneIsAnAnswerThatIsSaidAloud) {
  const Config config = load_routes(
      route("EFFECTFUL", "    key: {tenant: {constant: acme}, run: none, fields: [/a]}\n"));
  EXPECT_EQ(config.routes[0].key.run, std::nullopt);
  EXPECT_THAT(config.warnings,
              ElementsAre("f.yaml:11:42: route book: run: none: equal calls of one "
                          "tenant within 24h are ONE call"));
}

TEST(Load, AnOptionalClientKeyBesideFieldsIsWarnedOf) {
  const Config config =
      load_routes(route("EFFECTFUL", std::string(kKeyed) + "    client_key: optional\n"));
  EXPECT_THAT(
      config.warnings,
      ElementsAre(HasSubstr("f.yaml:12:17: route book: client_key: optional beside fields")));
}

TEST(Load, StatusListsYieldToTheOneThatWasWritten) {
  const Config config = load_routes(
      route("EFFECTFUL", std::string(kKeyed) + "    record: {release_on: [503, \"3xx\"]}\n"));
  const RecordRules& rules = config.routes[0].record;
  EXPECT_TRUE(rules.release_on.test(503));
  EXPECT_TRUE(rules.release_on.test(300));
  EXPECT_TRUE(rules.release_on.test(399));
  EXPECT_FALSE(rules.release_on.test(400));
  EXPECT_FALSE(rules.indeterminate_on.test(503));
  EXPECT_TRUE(rules.indeterminate_on.test(502));
  EXPECT_TRUE(rules.indeterminate_on.test(408));

  const Config other = load_routes(
      route("EFFECTFUL", std::string(kKeyed) + "    record: {indeterminate_on: [429]}\n"));
  EXPECT_TRUE(other.routes[0].record.indeterminate_on.test(429));
  EXPECT_FALSE(other.routes[0].record.release_on.test(429));
  EXPECT_TRUE(other.routes[0].record.release_on.test(400));
}

TEST(Load, EveryPartOfARouteIsTaken) {
  const Config config = load_routes(
      route("IDEMPOTENT",
            std::string(kKeyed) +
                "    on_store_down: forward\n"
                "    mode: shadow\n"
                "    host: keep\n"
                "    redelivery_horizon: 5m\n"
                "    request: {max_body: 64KiB}\n"
                "    forward_key: {header: X-Key, quoted: true, value: client, fence: true}\n"
                "    record:\n"
                "      body: false\n"
                "      max_body: 2MiB\n"
                "      headers: {add: [Date], remove: [X-Debug]}\n"));
  const Route& route = config.routes[0];
  EXPECT_EQ(route.on_store_down, OnStoreDown::Forward);
  EXPECT_EQ(route.mode, Mode::Shadow);
  EXPECT_TRUE(route.keep_host);
  EXPECT_EQ(route.redelivery_horizon, seconds(300));
  EXPECT_EQ(route.request_body_bytes_max, 65'536u);
  EXPECT_EQ(route.forward_key.header, "X-Key");
  EXPECT_TRUE(route.forward_key.quoted);
  EXPECT_TRUE(route.forward_key.fence);
  EXPECT_EQ(route.forward_key.value, ForwardKey::Value::Client);
  EXPECT_FALSE(route.record.keep_body);
  EXPECT_EQ(route.record.body_bytes_max, 2'097'152u);
  EXPECT_THAT(route.replay_headers_add, ElementsAre("Date"));
  EXPECT_THAT(route.replay_headers_remove, ElementsAre("X-Debug"));
  EXPECT_EQ(route.file, "f.yaml");
  EXPECT_EQ(route.line, 7);
}

TEST(Load, WordsAreNotTruthValues) {
  const Config config =
      load(std::string(kServer) + "metrics: off\nadmin: off\naccess_log: off\nroutes:\n" +
           route("EFFECTFUL", std::string(kKeyed) +
                                  "    forward_key: off\n    indeterminate_retention: never\n"));
  EXPECT_EQ(config.access_log, std::nullopt);
  EXPECT_FALSE(config.metrics);
  EXPECT_FALSE(config.admin);
  EXPECT_EQ(config.routes[0].forward_key.value, ForwardKey::Value::Off);
  EXPECT_EQ(config.routes[0].indeterminate_retention, std::nullopt);
}

TEST(Load, VariablesMayStandForNumbersAndTruthValues) {
  const std::string text =
      "version: 1\n"
      "listen: {address: \"127.0.0.1:0\"}\n"
      "store: {memory: {max_records: \"${RECORDS}\", allow_volatile: \"${VOLATILE}\"}}\n"
      "upstreams: {tools: {endpoints: [\"http://127.0.0.1:9000\"]}}\n"
      "routes:\n" +
      route("EFFECTFUL", kKeyed);
  const auto store = std::get<MemoryStore>(load(text).store);
  EXPECT_EQ(store.records_max, 7u);
  EXPECT_TRUE(store.allow_volatile);
}

TEST(Load, TheOtherStoresAreTaken) {
  const auto with = [](const std::string& store) {
    std::string text = kServer + ("routes:\n" + route("", ""));
    const std::string old = "{sqlite: {path: ./semel.db}}";
    return load(text.replace(text.find(old), old.size(), store)).store;
  };
  const auto redis = std::get<RedisStore>(
      with("{redis: {url: \"redis://h:6379/1\", wait_replicas: 2, sentinel: {master: m, addresses: "
           "[\"a:1\", \"[::1]:2\"]}}}"));
  EXPECT_EQ(redis.url, "redis://h:6379/1");
  EXPECT_EQ(redis.wait_replicas, 2);
  EXPECT_EQ(redis.sentinel_master, "m");
  EXPECT_THAT(redis.sentinels, ElementsAre("a:1", "[::1]:2"));
  EXPECT_EQ(std::get<PostgresStore>(with("{postgres: {url: \"postgres://h/d\"}}")).url,
            "postgres://h/d");
}

TEST(Load, EndpointsOfAllKindsAreTaken) {
  const Config config = load(
      "version: 1\nlisten: {address: \"[::]:8080\", authorities: [api.example], proxy_protocol: "
      "true}\n"
      "store: {sqlite: {path: a}}\nworkers: 4\n"
      "upstreams:\n  a: {endpoints: [\"http://h\", \"https://h/\", \"unix:/run/t.sock\", "
      "\"http://[::1]:81\"], tls: {server_name: n}}\n"
      "routes:\n  - {name: r, match: {path: /*}, upstream: a, upgrade: true, allow_escapes: "
      "[\"%2F\"]}\n");
  EXPECT_EQ(config.workers, 4u);
  EXPECT_EQ(config.listen.address.text(), "[::]:8080");
  EXPECT_TRUE(config.listen.proxy_protocol);
  const auto& endpoints = config.upstreams.at(0).endpoints;
  EXPECT_EQ(endpoints.at(0).address.text(), "h:80");
  EXPECT_EQ(endpoints.at(1).address.text(), "h:443");
  EXPECT_TRUE(endpoints.at(1).tls);
  EXPECT_EQ(endpoints.at(1).authority, "h");
  EXPECT_EQ(endpoints.at(2).address.text(), "unix:/run/t.sock");
  EXPECT_EQ(endpoints.at(3).address.text(), "[::1]:81");
  EXPECT_THAT(config.routes.at(0).allow_escapes, ElementsAre("%2f"));
  EXPECT_TRUE(config.routes.at(0).upgrade);
}

TEST(Load, WrongServersAreRefused) {
  struct Row {
    const char* replaced;
    const char* by;
    const char* error;
  };
  for (const Row& row : {
           Row{"version: 1", "version: 2", "version: only version 1 is known"},
           Row{"127.0.0.1:0", "127.0.0.1", "is no address; write host:port"},
           Row{"127.0.0.1:0", "::1:80", "is no address; write host:port"},
           Row{"127.0.0.1:0", "h:65536", "is no address; write host:port"},
           Row{"http://127.0.0.1:9000", "127.0.0.1:9000", "is no endpoint; write http://"},
           Row{"http://127.0.0.1:9000", "http://h/base", "an endpoint has no path"},
           Row{"http://127.0.0.1:9000", "http://u:p@h", "has no user name or password"},
           Row{"http://127.0.0.1:9000", "http://h:0", "has no valid host and port"},
           Row{"http://127.0.0.1:9000", "unix:run", "is an absolute path"},
           Row{"[\"http://127.0.0.1:9000\"]", "[]", "endpoints: is empty"},
           Row{"tools: {", "\"to ols\": {", "is no name"},
           Row{"store:", "limits: {connections: 0}\nstore:", "connections: 0 is out of range"},
           Row{"store:", "limits: {connections: \"5\"}\nstore:", "\"5\" is a text; write a whole"},
           Row{"store:", "limits: {new_keys_per_tenant: on}\nstore:", "on is no whole number"},
           Row{"store:", "state_dir: 7\nstore:", "7 is no text in YAML; write \"7\""},
           Row{"store:", "state_dir:\nstore:", "state_dir: has no value; write a text"},
           Row{"store:", "metrics: on\nstore:", "metrics: is no mapping"},
       }) {
    EXPECT_THAT(error_with_server(row.replaced, row.by), HasSubstr(row.error)) << row.by;
  }
}

TEST(Load, WrongRoutesAreRefused) {
  struct Row {
    const char* policy;
    const char* rest;
    const char* error;
  };
  for (const Row& row : {
           Row{"EFFECTFUL", "    wait: 11m\n", "wait: 11m is out of range; write 0s to 10m"},
           Row{"EFFECTFUL", "    timeout: 0s\n", "timeout: 0s is out of range"},
           Row{"EFFECTFUL", "    retention: 900500ms\n", "must be whole seconds"},
           Row{"IDEMPOTENT", "    retry: {budget: 20}\n", "budget: 20 is no share"},
           Row{"IDEMPOTENT", "    retry: {attempts: 11}\n", "attempts: 11 is out of range"},
           Row{"IDEMPOTENT", "    retry: {on: [refused]}\n", "refused is no whole number"},
           Row{"IDEMPOTENT", "    on_store_down: forwrd\n", "did you mean \"forward\"?"},
           Row{"EFFECTFUL", "    record: {release_on: [100]}\n", "100 is out of range"},
           Row{"EFFECTFUL", "    record: {release_on: 400}\n", "release_on: is no list"},
           Row{"EFFECTFUL", "    forward_key: {header: \"a b\"}\n", "cannot carry a key"},
           Row{"EFFECTFUL", "    forward_key: none\n", "forward_key: is no mapping"},
           Row{"EFFECTFUL", "    request: {max_body: 512MiB}\n", "exceeds limits: buffered_bytes"},
           Row{"EFFECTFUL", "    record: {headers: {add: [Connection]}}\n", "is never replayed"},
           Row{"EFFECTFUL", "    record: {headers: {add: [A], remove: [a]}}\n", "in both add and"},
           Row{"EFFECTFUL", "    mode: on\n", "mode: unknown word \"on\""},
       }) {
    EXPECT_THAT(error_of_routes(route(row.policy, std::string(kKeyed) + row.rest)),
                HasSubstr(row.error))
        << row.rest;
  }
}

TEST(Load, WrongMatchesAreRefused) {
  struct Row {
    const char* match;
    const char* error;
  };
  for (const Row& row : {
           Row{"{path: tools}", "path: \"tools\": "},
           Row{"{path: \"/a/*/b\"}", "path: \"/a/*/b\": "},
           Row{"{methods: [post], path: /a}", "methods are upper case; write POST"},
           Row{"{methods: [], path: /a}", "methods: is empty"},
           Row{"{methods: [GET, GET], path: /a}", "GET stands here twice"},
           Row{"{methods: [TRACE], path: /a}", "TRACE is never proxied"},
           Row{"{methods: GET, path: /a}", "methods: is no list"},
           Row{"{methods: [GET]}", "the key \"path\" is missing"},
       }) {
    EXPECT_THAT(
        error_of_routes("  - {name: a, upstream: tools, match: " + std::string(row.match) + "}\n"),
        HasSubstr(row.error))
        << row.match;
  }
  EXPECT_THAT(
      error_of_routes("  - name: a\n    upstream: tools\n    policy: EFFECTFUL\n"
                      "    match: {path: /a}\n    key: {tenant: {constant: t}, run: none}\n"),
      HasSubstr("f.yaml:10:12: match: a keyed route lists its methods"));
}

TEST(Load, AFileThatIsNotThereIsSaidSo) {
  EXPECT_THROW(static_cast<void>(load_file("/nonexistent/semel.yaml", lookup)), ConfigError);
  EXPECT_THROW(static_cast<void>(load_file(SEMEL_SOURCE_DIR, lookup)), ConfigError);
}

}  // namespace
}  // namespace semel::config
