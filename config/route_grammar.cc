// The keys of one route. The rest of the grammar: grammar.cc.
#include "config/grammar.h"

namespace semel::config {
namespace {

constexpr std::string_view kDuration = R"("$ref": "#/$defs/duration")";

constexpr Key kDefaultsKeys[] = {
    {"on_duplicate", R"("enum": ["wait", "reject"])", "Of every keyed route."},
    {"wait", kDuration, "Of every keyed route."},
    {"dispatch_by", kDuration, "Of every route."},
    {"timeout", kDuration, "Of every route."},
    {"stream_timeout", kDuration, "Of every route."},
    {"settle", kDuration, "Of every keyed route."},
    {"lease_margin", kDuration, "Of every keyed route."},
    {"retention", kDuration, "Of every keyed route, IDEMPOTENT ones included."},
    {"indeterminate_retention", R"("anyOf": [{"const": "never"}, {"$ref": "#/$defs/duration"}])",
     "Of every keyed route."},
};

constexpr Key kRouteKeys[] = {
    {"name", R"("$ref": "#/$defs/name")", "Unique; also the operation's name in the key.",
     "name: book"},
    {"match", R"("$ref": "#/$defs/match")", "Which requests it takes.",
     "match: {methods: [POST], path: /tools/book}"},
    {"upstream", R"("$ref": "#/$defs/name")", "A name of upstreams.",
     "upstream: and a name of upstreams"},
    {"policy", R"("enum": ["READ_ONLY", "IDEMPOTENT", "EFFECTFUL"])",
     "What repeating a call does. Default: none, a plain proxied route."},
    {"key", R"("$ref": "#/$defs/key")", "What makes two calls one. Keyed routes only."},
    {"client_key", R"("enum": ["ignore", "optional", "required"])",
     "Whether the client's Idempotency-Key counts. Default: ignore with fields, else optional."},
    {"on_duplicate", R"("enum": ["wait", "reject"])",
     "A duplicate of a call in flight waits, or gets 409 at once. Default: wait."},
    {"wait", kDuration, "How long a duplicate waits for the call in flight. Default: 25s."},
    {"dispatch_by", kDuration,
     "The first request byte leaves by then, or nothing is sent. Default: 3s."},
    {"timeout", kDuration, "First byte sent to complete response head. Default: 30s."},
    {"stream_timeout", kDuration, "Response head to last byte. Default: timeout."},
    {"settle", kDuration,
     "How long a late answer of an EFFECTFUL call is still taken; also what a slow client may "
     "hold up a long answer. Default: 60s."},
    {"lease_margin", kDuration, "Slack at the end of the lease. Default: 2s."},
    {"retention", kDuration,
     "How long a completed key is remembered. Default: 24h; 10m for IDEMPOTENT."},
    {"indeterminate_retention", R"("anyOf": [{"const": "never"}, {"$ref": "#/$defs/duration"}])",
     "When an unknown outcome is forgotten. Default: never; retention for IDEMPOTENT."},
    {"redelivery_horizon", kDuration,
     "How late the sender may still repeat a call; retention must cover it. Default: none."},
    {"record", R"("$ref": "#/$defs/record")", "Which answers are kept, and what of them."},
    {"forward_key", R"("anyOf": [{"const": "off"}, {"$ref": "#/$defs/forward_key"}])",
     "The key that goes upstream. Default: the derived one in Idempotency-Key."},
    {"mode", R"("enum": ["enforce", "shadow", "off"])",
     "shadow watches without waiting or refusing; off passes through. Default: enforce."},
    {"on_store_down", R"("enum": ["refuse", "forward"])",
     "IDEMPOTENT only: forward unguarded where the store is down. Default: refuse, 503."},
    {"retry", R"("anyOf": [{"const": "off"}, {"$ref": "#/$defs/retry"}])",
     "READ_ONLY and IDEMPOTENT only: how a failed upstream call is repeated."},
    {"request", R"("$ref": "#/$defs/request")", "Bounds of a keyed route's request."},
    {"host", R"("enum": ["upstream", "keep"])",
     "The Host that the upstream sees: its own, or the client's. Default: upstream."},
    {"upgrade", R"("$ref": "#/$defs/boolean")",
     "Pass Upgrade (WebSocket) through; routes without policy only. Default: false. Not yet: "
     "refused at start."},
    {"allow_escapes", R"("type": "array", "items": {"enum": ["%2f", "%2F", ";", "%25"]})",
     "Path escapes let through; routes without policy only. Default: none."},
};

constexpr Key kMatchKeys[] = {
    {"methods",
     R"("type": "array", "minItems": 1, "uniqueItems": true, )"
     R"("items": {"type": "string", "pattern": "^[A-Z][A-Z0-9_-]*$"})",
     "Upper case. Default: any; keyed routes list theirs."},
    {"path", R"("type": "string", "pattern": "^/")", "Exact, {param} segments, or a final /*.",
     "path: /tools/book"},
};

constexpr std::string_view kArguments = R"("type": "array", "items": {"$ref": "#/$defs/argument"})";

constexpr Key kKeyKeys[] = {
    {"tenant", R"("$ref": "#/$defs/source")", "Whose call it is; records never cross tenants.",
     "tenant: {header: X-Tenant-Id}"},
    {"run", R"("anyOf": [{"const": "none"}, {"$ref": "#/$defs/source"}])",
     "What sets one intention apart from the next equal one; none says there is no such thing."},
    {"fields", kArguments, "What counts of the request. Default: all of it."},
    {"path", R"("enum": ["concrete", "route"])",
     "Whether the concrete path is in the key. Default: concrete."},
    {"guards", kArguments, "Not in the key, but must match, else 422. Default: none."},
    {"caller", R"("$ref": "#/$defs/source")", "Who may see the replay. Default: the tenant."},
    {"version", R"("$ref": "#/$defs/integer")",
     "Raise it when the recipe changes its meaning: every key of the route is a new one."},
};

constexpr Key kSourceKeys[] = {
    {"header", R"("type": "string")", "A header's name; outer white space is trimmed."},
    {"path", R"("type": "string")", "A {param} of the pattern."},
    {"query", R"("type": "string")", "A query parameter, form-decoded."},
    {"body", R"("$ref": "#/$defs/pointer")", "A JSON Pointer into the body."},
    {"constant", R"("$ref": "#/$defs/text")", "The value itself."},
    {"tls", R"("enum": ["subject", "uri", "dns"])", "A name in the client's certificate."},
    {"authorization", R"("const": "digest")", "SHA-256 of the Authorization header."},
    {"static", R"("const": true)", "With authorization: tokens outlive the retention."},
    {"stable", R"("$ref": "#/$defs/boolean")",
     "With header: it keeps its value in a retry although its name suggests otherwise."},
};

constexpr Key kRecordKeys[] = {
    {"max_body", R"("$ref": "#/$defs/size")",
     "A longer response completes the record without its body. Default: 1MiB."},
    {"body", R"("$ref": "#/$defs/boolean")", "Whether bodies are kept at all. Default: true."},
    {"release_on", R"("$ref": "#/$defs/statuses")",
     "Statuses that say that the tool wrote nothing: the key is free again."},
    {"indeterminate_on", R"("$ref": "#/$defs/statuses")",
     "Statuses that leave the effect unknown. Default: 408 and 5xx."},
    {"headers", R"("$ref": "#/$defs/replay_headers")", "Header names of the stored response."},
};

constexpr std::string_view kNames = R"("type": "array", "items": {"type": "string"})";

constexpr Key kReplayHeadersKeys[] = {
    {"add", kNames, "Stored and replayed although they usually are not."},
    {"remove", kNames, "Never stored."},
};

constexpr Key kForwardKeyKeys[] = {
    {"header", R"("type": "string")", "Its name. Default: Idempotency-Key."},
    {"quoted", R"("$ref": "#/$defs/boolean")", "As an RFC 8941 string. Default: false."},
    {"value", R"("enum": ["derived", "client"])",
     "Semel's 64 hex digits, or what the client sent. Default: derived."},
    {"fence", R"("$ref": "#/$defs/boolean")",
     "Add Semel-Fence, so that the tool can refuse a stale sender. Default: false."},
};

constexpr Key kRetryKeys[] = {
    {"attempts", R"("$ref": "#/$defs/integer")", "In all, the first included. Default: 3."},
    {"backoff", kDuration, "Before the second attempt. Default: 100ms."},
    {"budget", R"("$ref": "#/$defs/percentage")",
     "Retries as a share of the route's recent requests. Default: 20%."},
    {"on",
     R"("type": "array", "items": {"anyOf": [{"enum": ["connect", "reset"]}, )"
     R"({"$ref": "#/$defs/status"}]})",
     "What is retried. Default: connect, reset, 502, 503, 504."},
};

constexpr Key kRequestKeys[] = {
    {"max_body", R"("$ref": "#/$defs/size")",
     "A longer request body gets 413 before any claim. Default: 1MiB."},
};

constexpr std::string_view kOneSource =
    R"(, "oneOf": [{"required": ["header"]}, {"required": ["path"]}, {"required": ["query"]}, )"
    R"({"required": ["body"]}, {"required": ["constant"]}, {"required": ["tls"]}, )"
    R"({"required": ["authorization", "static"]}])";

}  // namespace

const MappingGrammar kDefaultsGrammar{"defaults", kDefaultsKeys, ""};
const MappingGrammar kRouteGrammar{"route", kRouteKeys, ""};
const MappingGrammar kMatchGrammar{"match", kMatchKeys, ""};
const MappingGrammar kKeyGrammar{"key", kKeyKeys, ""};
const MappingGrammar kSourceGrammar{"source", kSourceKeys, kOneSource};
const MappingGrammar kRecordGrammar{"record", kRecordKeys, ""};
const MappingGrammar kReplayHeadersGrammar{"replay_headers", kReplayHeadersKeys, ""};
const MappingGrammar kForwardKeyGrammar{"forward_key", kForwardKeyKeys, ""};
const MappingGrammar kRetryGrammar{"retry", kRetryKeys, ""};
const MappingGrammar kRequestGrammar{"request", kRequestKeys, ""};

}  // namespace semel::config
