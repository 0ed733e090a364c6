// The keys of the server's own part: listeners, store, upstreams, limits. Routes: route_grammar.cc.
#include "config/grammar.h"

namespace semel::config {
namespace {

constexpr Key kTopKeys[] = {
    {"version", R"("const": 1)", "The version of this grammar: 1.", "version: 1"},
    {"listen", R"("$ref": "#/$defs/listen")", "Where clients come in.",
     "listen: {address: \"0.0.0.0:8080\"}"},
    {"metrics", R"("anyOf": [{"const": "off"}, {"$ref": "#/$defs/metrics"}])",
     "Where /metrics, /healthz and /readyz are served, without a token. Default: off."},
    {"admin", R"("anyOf": [{"const": "off"}, {"$ref": "#/$defs/admin"}])",
     "Where operators and the CLI ask and resolve, always with a token. Default: off."},
    {"state_dir", R"("$ref": "#/$defs/text")",
     "Folder of the witness and of admin.token, of one process. Default: ./semel-state."},
    {"workers", R"("anyOf": [{"const": "auto"}, {"$ref": "#/$defs/integer"}])",
     "Threads that serve, 1 to 1024. Default: auto, one per core."},
    {"access_log", R"("anyOf": [{"const": "off"}, {"$ref": "#/$defs/access_log"}])",
     "One JSON line per exchange. Default: standard output."},
    {"limits", R"("$ref": "#/$defs/limits")", "Bounds on what clients may ask for."},
    {"store", R"("$ref": "#/$defs/store")", "What remembers the keys.",
     "store: {sqlite: {path: ./semel.db}}"},
    {"events", R"("anyOf": [{"const": "off"}, {"$ref": "#/$defs/events"}])",
     "The transition log: what became of each record, in the store itself. Default: off."},
    {"upstreams",
     R"("type": "object", "minProperties": 1, "propertyNames": {"$ref": "#/$defs/name"}, )"
     R"("additionalProperties": {"$ref": "#/$defs/upstream"})",
     "The services behind, by name.",
     "upstreams: {tools: {endpoints: [\"http://127.0.0.1:9000\"]}}"},
    {"defaults", R"("$ref": "#/$defs/defaults")", "What a route says that says nothing itself."},
    {"routes", R"("type": "array", "minItems": 1, "items": {"$ref": "#/$defs/route"})",
     "What may pass and how; the first match wins.", "routes: with at least one route"},
};

constexpr Key kListenKeys[] = {
    {"address", R"("$ref": "#/$defs/address")", "host:port; port 0 takes a free one.",
     "address: \"127.0.0.1:8080\""},
    {"tls", R"("$ref": "#/$defs/listen_tls")", "Serve HTTPS. Not yet: refused at start."},
    {"authorities", R"("type": "array", "minItems": 1, "items": {"$ref": "#/$defs/text"})",
     "The Host values that are ours. Default: any, and absolute-form targets are refused."},
    {"proxy_protocol", R"("$ref": "#/$defs/boolean")",
     "Every connection begins with a PROXY header. Default: false. Not yet: refused at start."},
};

constexpr Key kListenTlsKeys[] = {
    {"certificate", R"("$ref": "#/$defs/text")", "PEM file of the chain.",
     "certificate: ./server.pem"},
    {"key", R"("$ref": "#/$defs/text")", "PEM file of the private key.", "key: ./server.key"},
    {"client_ca", R"("$ref": "#/$defs/text")",
     "PEM file: clients must show a certificate that it signed."},
};

constexpr Key kMetricsKeys[] = {
    {"address", R"("$ref": "#/$defs/address")", "host:port.", "address: \"127.0.0.1:8080\""},
};

constexpr Key kAdminKeys[] = {
    {"address", R"("$ref": "#/$defs/address")", "host:port; keep it on the loopback.",
     "address: \"127.0.0.1:8080\""},
    {"token", R"("$ref": "#/$defs/text")",
     "The bearer token. Default: one is made and written to state_dir/admin.token."},
};

constexpr Key kAccessLogKeys[] = {
    {"path", R"("$ref": "#/$defs/text")", "A file, or - for standard output.", "path: \"-\""},
};

constexpr Key kLimitsKeys[] = {
    {"header_timeout", R"("$ref": "#/$defs/duration")",
     "First byte to end of the header block. Default: 10s."},
    {"body_timeout", R"("$ref": "#/$defs/duration")", "Longest wait for a body. Default: 30s."},
    {"body_min_rate", R"("$ref": "#/$defs/integer")",
     "Bytes a second that a body must keep up after its first second. Default: 256."},
    {"idle_timeout", R"("$ref": "#/$defs/duration")",
     "How long a kept connection may be silent. Default: 60s."},
    {"connections", R"("$ref": "#/$defs/integer")", "Open at once. Default: 4096."},
    {"connections_per_address", R"("$ref": "#/$defs/integer")",
     "Open at once from one address. Default: 1024."},
    {"buffered_bytes", R"("$ref": "#/$defs/size")",
     "Bodies held in memory in all; beyond it requests get 503. Default: 256MiB."},
    {"followers_per_key", R"("$ref": "#/$defs/integer")",
     "Duplicates that may wait for one call; more get 429. Default: 1000."},
    {"new_keys_per_tenant", R"("anyOf": [{"const": "off"}, {"$ref": "#/$defs/integer"}])",
     "New keys a minute of one tenant; more get 429. Default: off."},
};

constexpr Key kStoreKeys[] = {
    {"memory", R"("$ref": "#/$defs/memory")", "One process, forgets at its end."},
    {"sqlite", R"("$ref": "#/$defs/sqlite")", "One machine, survives restart and power loss."},
    {"redis", R"("$ref": "#/$defs/redis")", "Many replicas on one Redis."},
    {"postgres", R"("$ref": "#/$defs/postgres")", "Many replicas on one PostgreSQL."},
};

constexpr Key kMemoryKeys[] = {
    {"allow_volatile", R"("$ref": "#/$defs/boolean")",
     "EFFECTFUL routes may use a store that forgets at a restart. Default: false."},
    {"max_records", R"("$ref": "#/$defs/integer")", "More get 503. Default: 1000000."},
    {"max_bytes", R"("$ref": "#/$defs/size")",
     "Of stored responses; more are not kept. Default: 512MiB."},
};

constexpr Key kSqliteKeys[] = {
    {"path", R"("$ref": "#/$defs/text")", "The file; one process per file.", "path: ./semel.db"},
};

constexpr Key kRedisKeys[] = {
    {"url", R"("$ref": "#/$defs/text")", "redis://host:port/db or rediss://.",
     "url: \"redis://127.0.0.1:6379\""},
    {"wait_replicas", R"("$ref": "#/$defs/integer")",
     "Replicas that must have a write before it counts. Default: 0."},
    {"sentinel", R"("$ref": "#/$defs/sentinel")", "Find the primary through Sentinel."},
    {"cluster", R"("$ref": "#/$defs/boolean")", "The URL is a node of a cluster. Default: false."},
    {"tls", R"("$ref": "#/$defs/redis_tls")", "For rediss://; of its sentinels and nodes, too."},
};

constexpr Key kRedisTlsKeys[] = {
    {"ca", R"("$ref": "#/$defs/text")", "PEM file of roots. Default: the system's."},
    {"certificate", R"("$ref": "#/$defs/text")", "PEM file: the certificate shown to the server."},
    {"key", R"("$ref": "#/$defs/text")", "PEM file of its private key."},
};

constexpr Key kSentinelKeys[] = {
    {"master", R"("$ref": "#/$defs/text")", "The master's name.", "master: mymaster"},
    {"addresses", R"("type": "array", "minItems": 1, "items": {"$ref": "#/$defs/address"})",
     "The sentinels, host:port each.", "addresses: [\"127.0.0.1:26379\"]"},
};

constexpr Key kPostgresKeys[] = {
    {"url", R"("$ref": "#/$defs/text")", "postgres://user@host:port/database.",
     "url: \"postgres://semel@127.0.0.1/semel\""},
};

constexpr Key kEventsKeys[] = {
    {"max_age", R"("$ref": "#/$defs/duration")",
     "Older events are gone; whole seconds. Default: 7d."},
    {"max_events", R"("$ref": "#/$defs/integer")",
     "So many are kept, the youngest ones. Default: 1000000."},
};

constexpr Key kUpstreamKeys[] = {
    {"endpoints", R"("type": "array", "minItems": 1, "items": {"$ref": "#/$defs/endpoint"})",
     "http://host:port, https://host:port or unix:/path, tried in turn. https: not yet, refused at "
     "start.",
     "endpoints: [\"http://127.0.0.1:9000\"]"},
    {"tls", R"("$ref": "#/$defs/upstream_tls")", "For its https endpoints. Not yet: no effect."},
    {"connect_timeout", R"("$ref": "#/$defs/duration")", "Of one endpoint. Default: 1s."},
    {"keepalive_effectful", R"("$ref": "#/$defs/duration")",
     "EFFECTFUL rides a pooled connection only this soon after its last answer. Default: 1s."},
    {"connections", R"("$ref": "#/$defs/integer")",
     "Open at once of one worker; more calls wait for their turn. Default: 1024."},
};

constexpr Key kUpstreamTlsKeys[] = {
    {"ca", R"("$ref": "#/$defs/text")", "PEM file of roots. Default: the system's."},
    {"certificate", R"("$ref": "#/$defs/text")", "PEM file: the certificate shown to it."},
    {"key", R"("$ref": "#/$defs/text")", "PEM file of its private key."},
    {"server_name", R"("$ref": "#/$defs/text")", "Name to verify. Default: the endpoint's host."},
};

}  // namespace

const MappingGrammar kTopGrammar{"configuration", kTopKeys, ""};
const MappingGrammar kListenGrammar{"listen", kListenKeys, ""};
const MappingGrammar kListenTlsGrammar{"listen_tls", kListenTlsKeys, ""};
const MappingGrammar kMetricsGrammar{"metrics", kMetricsKeys, ""};
const MappingGrammar kAdminGrammar{"admin", kAdminKeys, ""};
const MappingGrammar kAccessLogGrammar{"access_log", kAccessLogKeys, ""};
const MappingGrammar kLimitsGrammar{"limits", kLimitsKeys, ""};
const MappingGrammar kStoreGrammar{"store", kStoreKeys,
                                   R"(, "minProperties": 1, "maxProperties": 1)"};
const MappingGrammar kMemoryGrammar{"memory", kMemoryKeys, ""};
const MappingGrammar kSqliteGrammar{"sqlite", kSqliteKeys, ""};
const MappingGrammar kRedisGrammar{"redis", kRedisKeys, ""};
const MappingGrammar kSentinelGrammar{"sentinel", kSentinelKeys, ""};
const MappingGrammar kRedisTlsGrammar{
    "redis_tls", kRedisTlsKeys,
    R"(, "dependentRequired": {"certificate": ["key"], "key": ["certificate"]})"};
const MappingGrammar kPostgresGrammar{"postgres", kPostgresKeys, ""};
const MappingGrammar kEventsGrammar{"events", kEventsKeys, ""};
const MappingGrammar kUpstreamGrammar{"upstream", kUpstreamKeys, ""};
const MappingGrammar kUpstreamTlsGrammar{
    "upstream_tls", kUpstreamTlsKeys,
    R"(, "dependentRequired": {"certificate": ["key"], "key": ["certificate"]})"};

std::span<const MappingGrammar* const> all_mappings() {
  static constexpr const MappingGrammar* kAll[] = {
      &kTopGrammar,         &kListenGrammar,    &kListenTlsGrammar, &kMetricsGrammar,
      &kAdminGrammar,       &kAccessLogGrammar, &kLimitsGrammar,    &kStoreGrammar,
      &kMemoryGrammar,      &kSqliteGrammar,    &kRedisGrammar,     &kSentinelGrammar,
      &kRedisTlsGrammar,    &kPostgresGrammar,  &kEventsGrammar,    &kUpstreamGrammar,
      &kUpstreamTlsGrammar, &kDefaultsGrammar,  &kRouteGrammar,     &kMatchGrammar,
      &kKeyGrammar,         &kSourceGrammar,    &kRecordGrammar,    &kReplayHeadersGrammar,
      &kForwardKeyGrammar,  &kRetryGrammar,     &kRequestGrammar};
  return kAll;
}

}  // namespace semel::config
