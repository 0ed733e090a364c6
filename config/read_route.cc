// One route of the file, complete. What routes must be to each other is checked in load.cc, what
// the parts of one route must be to each other in check_route.cc.
#include "config/read_route.h"

#include <algorithm>

#include "config/check_route.h"
#include "config/read_server.h"
#include "config/read_source.h"
#include "core/header_rules.h"
#include "core/route_table.h"

namespace semel::config {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kRetentionIdempotent{600};
constexpr Range<milliseconds> kPositive{milliseconds(1), kDurationAtMost};
constexpr Range<milliseconds> kAny{milliseconds(0), kDurationAtMost};
constexpr Range<milliseconds> kWindow{milliseconds(1'000), 10 * kDurationAtMost};

/// The route's own value, else that of `defaults`.
class RouteValues {
 public:
  RouteValues(const Mapping& route, const std::optional<Mapping>& defaults)
      : route_(route), defaults_(defaults) {}

  [[nodiscard]] std::optional<Value> find(std::string_view key) const {
    const auto own = route_.find(key);
    return own || !defaults_ ? own : defaults_->find(key);
  }
  void read(std::string_view key, Range<milliseconds> range, milliseconds& duration) const {
    if (const auto value = find(key)) duration = value->duration(range);
  }

 private:
  const Mapping& route_;
  const std::optional<Mapping>& defaults_;
};

/// The store counts retention in whole seconds.
seconds read_window(const Value& value) {
  const milliseconds window = value.duration(kWindow);
  if (window % seconds(1) != milliseconds(0)) value.fail("must be whole seconds; write 1s or more");
  return std::chrono::duration_cast<seconds>(window);
}

std::vector<std::string> read_methods(const Value& value) {
  std::vector<std::string> methods;
  for (const Value& item : value.items()) {
    const std::string method = item.nonempty_text();
    std::string upper = method;
    std::transform(upper.begin(), upper.end(), upper.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    if (!is_token(method)) item.fail("\"" + method + "\" is no method; write one such as POST");
    if (method != upper) item.fail("methods are upper case; write " + upper);
    if (method == "CONNECT" || method == "TRACE") {
      item.fail(method + " is never proxied; remove it");
    }
    if (std::find(methods.begin(), methods.end(), method) != methods.end()) {
      item.fail(method + " stands here twice; remove one");
    }
    methods.push_back(method);
  }
  if (methods.empty()) value.fail("is empty; list methods, or remove the key to take any");
  return methods;
}

void read_match(const Mapping& mapping, Route& route) {
  if (const auto methods = mapping.find("methods")) route.methods = read_methods(*methods);
  const Value path = mapping.require("path");
  route.pattern = path.nonempty_text();
  auto parsed = parse_pattern(route.pattern);
  if (const auto* sentence = std::get_if<std::string>(&parsed)) {
    path.fail("\"" + route.pattern + "\": " + *sentence);
  }
  route.segments = std::get<std::vector<PatternSegment>>(std::move(parsed));
}

void read_upstream_of(const Mapping& mapping, const Config& config, Route& route) {
  const Value value = mapping.require("upstream");
  route.upstream_name = value.nonempty_text();
  std::vector<std::string_view> names;
  for (const Upstream& upstream : config.upstreams) {
    if (upstream.name == route.upstream_name) route.upstream = names.size();
    names.push_back(upstream.name);
  }
  if (std::find(names.begin(), names.end(), route.upstream_name) != names.end()) return;
  const auto nearest = nearest_word(route.upstream_name, names);
  value.fail("there is no upstream \"" + route.upstream_name + "\"; " +
             (nearest ? "did you mean \"" + std::string(*nearest) + "\"?"
                      : "write " + enumerate(names) + ", or add it to upstreams"));
}

void read_times(const RouteValues& values, Route& route) {
  values.read("wait", {milliseconds(0), milliseconds(600'000)}, route.wait);
  values.read("dispatch_by", kPositive, route.dispatch_by);
  values.read("timeout", kPositive, route.timeout);
  route.stream_timeout = route.timeout;
  values.read("stream_timeout", kPositive, route.stream_timeout);
  values.read("settle", kAny, route.settle);
  values.read("lease_margin", kAny, route.lease_margin);
}

/// What concerns repeated calls and may come from `defaults`.
void read_windows(const RouteValues& values, Route& route) {
  const bool is_idempotent = route.policy == Policy::Idempotent;
  if (is_idempotent) route.retention = kRetentionIdempotent;
  if (const auto value = values.find("retention")) route.retention = read_window(*value);
  if (is_idempotent) route.indeterminate_retention = route.retention;
  if (const auto value = values.find("indeterminate_retention")) {
    route.indeterminate_retention =
        value->is_word("never") ? std::nullopt : std::optional(read_window(*value));
  }
  if (const auto value = values.find("on_duplicate")) {
    route.on_duplicate =
        value->word<OnDuplicate>({{"wait", OnDuplicate::Wait}, {"reject", OnDuplicate::Reject}});
  }
}

void read_key(const Mapping& mapping, bool has_client_certificates, Route& route) {
  const SourceScope scope{route.segments, route.methods, has_client_certificates};
  KeyRecipe& key = route.key;
  key.tenant = read_source(mapping.require("tenant"), scope);
  if (const auto run = mapping.find("run"); run && !run->is_word("none")) {
    key.run = read_source(*run, scope);
  }
  if (const auto fields = mapping.find("fields")) key.fields = read_source_set(*fields, scope);
  if (const auto path = mapping.find("path")) {
    key.path =
        path->word<PathInKey>({{"concrete", PathInKey::Concrete}, {"route", PathInKey::Route}});
  }
  if (const auto guards = mapping.find("guards")) key.guards = read_source_set(*guards, scope);
  if (const auto caller = mapping.find("caller")) key.caller = read_source(*caller, scope);
  if (const auto version = mapping.find("version")) {
    route.key_version = static_cast<int>(version->integer({1, 1'000'000}));
  }
}

/// What only a keyed route has.
void read_keyed(const Mapping& mapping, const RouteValues& values, const Config& config,
                Route& route) {
  if (!mapping.find("key")) {
    mapping.fail("route " + route.name + " is " + std::string(name(route.policy)) +
                 " and says no key; write key: {tenant: {header: X-Tenant-Id}, run: {header: "
                 "X-Run-Id}}");
  }
  const bool has_certificates = config.listen.tls && !config.listen.tls->ca.empty();
  read_key(mapping.require("key").mapping(kKeyGrammar), has_certificates, route);
  route.key.client_key = route.key.fields.empty() ? ClientKey::Optional : ClientKey::Ignore;
  if (const auto value = mapping.find("client_key")) {
    route.key.client_key = value->word<ClientKey>({{"ignore", ClientKey::Ignore},
                                                   {"optional", ClientKey::Optional},
                                                   {"required", ClientKey::Required}});
  }
  if (const auto value = mapping.find("on_store_down")) {
    route.on_store_down = value->word<OnStoreDown>(
        {{"refuse", OnStoreDown::Refuse}, {"forward", OnStoreDown::Forward}});
  }
  if (const auto value = mapping.find("redelivery_horizon")) {
    route.redelivery_horizon = read_window(*value);
  }
  if (const auto value = mapping.find("mode")) {
    route.mode = value->word<Mode>(
        {{"enforce", Mode::Enforce}, {"shadow", Mode::Shadow}, {"off", Mode::Off}});
  }
  if (const auto value = mapping.find("forward_key")) route.forward_key = read_forward_key(*value);
  if (const auto value = mapping.find("request")) {
    const auto size = value->mapping(kRequestGrammar).find("max_body");
    if (size) route.request_body_bytes_max = size->size({1, std::size_t{1} << 30});
  }
  read_windows(values, route);
  read_record_rules(mapping, route);
}

void read_plain(const Mapping& mapping, Route& route) {
  if (const auto value = mapping.find("host")) {
    route.keep_host = value->word<bool>({{"upstream", false}, {"keep", true}});
  }
  if (const auto value = mapping.find("upgrade")) route.upgrade = value->boolean();
  if (const auto value = mapping.find("allow_escapes")) {
    for (const Value& item : value->items()) {
      route.allow_escapes.push_back(
          item.word<std::string>({{"%2f", "%2f"}, {"%2F", "%2f"}, {";", ";"}, {"%25", "%25"}}));
    }
  }
}

}  // namespace

Mapping read_defaults(const Value& value) {
  const Mapping defaults = value.mapping(kDefaultsGrammar);
  const std::optional<Mapping> none;
  const RouteValues values(defaults, none);
  Route unused;
  read_times(values, unused);
  read_windows(values, unused);
  return defaults;
}

WrittenRoute read_route(const Value& value, const RouteSurroundings& around) {
  WrittenRoute written{value.mapping(kRouteGrammar), {}};
  const Mapping& mapping = written.mapping;
  Route& route = written.route;
  const RouteValues values(mapping, around.defaults);
  const Value name_value = mapping.require("name");
  route.name = name_value.nonempty_text();
  check_name(name_value, route.name);
  route.file = around.config.file;
  route.line = mapping.place().line;
  read_match(mapping.require("match").mapping(kMatchGrammar), route);
  read_upstream_of(mapping, around.config, route);
  if (const auto policy = mapping.find("policy")) {
    route.policy = policy->word<Policy>({{"READ_ONLY", Policy::ReadOnly},
                                         {"IDEMPOTENT", Policy::Idempotent},
                                         {"EFFECTFUL", Policy::Effectful}});
  }
  check_keys_of_policy(mapping, route);
  read_times(values, route);
  read_plain(mapping, route);
  const bool may_retry = route.policy == Policy::ReadOnly || route.policy == Policy::Idempotent;
  if (!may_retry) route.retry.attempts = 1;
  if (const auto retry = mapping.find("retry")) route.retry = read_retry_rules(*retry);
  if (is_keyed(route.policy)) read_keyed(mapping, values, around.config, route);
  check_route(written, around.config);
  return written;
}

}  // namespace semel::config
