#include "config/check_route.h"

#include "config/read_statuses.h"
#include "config/units.h"
#include "core/route_table.h"

namespace semel::config {
namespace {

/// Keys that mean something only where calls are remembered.
constexpr std::string_view kKeyedOnly[] = {
    "key",     "client_key",   "on_duplicate", "wait",
    "settle",  "lease_margin", "retention",    "indeterminate_retention",
    "record",  "forward_key",  "mode",         "redelivery_horizon",
    "request", "on_store_down"};

void check_windows(const Mapping& mapping, const Route& route) {
  if (route.lease() >= route.retention) {
    mapping.fail_at_key(
        "retention",
        "retention: " + to_text(route.retention) + " is not longer than the lease of " +
            to_text(route.lease()) +
            " (dispatch_by + timeout + stream_timeout + settle + lease_margin); raise retention or "
            "shorten one of these");
  }
  if (route.indeterminate_retention && *route.indeterminate_retention < route.retention) {
    mapping.fail_at_key("indeterminate_retention",
                        "indeterminate_retention: " + to_text(*route.indeterminate_retention) +
                            " is shorter than the retention of " + to_text(route.retention) +
                            "; write at least that, or never");
  }
  if (route.redelivery_horizon && *route.redelivery_horizon > route.retention) {
    mapping.fail_at_key("redelivery_horizon",
                        "redelivery_horizon: the sender repeats for " +
                            to_text(*route.redelivery_horizon) + " but the retention is " +
                            to_text(route.retention) + "; raise retention to at least that");
  }
}

void check_methods(const Mapping& mapping, const Route& route) {
  const Mapping match = mapping.require("match").mapping(kMatchGrammar);
  if (route.methods.empty()) {
    match.fail("match: a keyed route lists its methods; write methods: [POST]");
  }
  for (const std::string& method : route.methods) {
    if (method != "OPTIONS") continue;
    match.fail_at_key("methods", "methods: OPTIONS is never keyed and passes by itself; remove it");
  }
}

void check_run(const Mapping& mapping, const Route& route) {
  const Mapping key = mapping.require("key").mapping(kKeyGrammar);
  if (route.key.client_key == ClientKey::Required || key.find("run")) return;
  key.fail(
      "key: says no run, so that equal calls of two intentions would be one; write run: {header: "
      "X-Run-Id}, or run: none if equal calls are one call");
}

void check_store(const Mapping& mapping, const Route& route, const Config& config) {
  const auto* memory = std::get_if<MemoryStore>(&config.store);
  if (route.policy != Policy::Effectful || !memory || memory->allow_volatile) return;
  mapping.fail_at_key("policy",
                      "policy: an EFFECTFUL route on the memory store forgets its calls at a "
                      "restart; use store: {sqlite: {path: ./semel.db}}, or say allow_volatile: "
                      "true");
}

void check_bodies(const Mapping& mapping, const Route& route, const Config& config) {
  if (route.request_body_bytes_max <= config.limits.buffered_bytes) return;
  mapping.fail_at_key("request", "request: max_body " + size_text(route.request_body_bytes_max) +
                                     " exceeds limits: buffered_bytes " +
                                     size_text(config.limits.buffered_bytes) +
                                     "; raise the limit or shorten max_body");
}

void check_names(const std::vector<WrittenRoute>& routes, std::size_t later) {
  const Route& route = routes[later].route;
  for (std::size_t i = 0; i < later; ++i) {
    if (routes[i].route.name != route.name) continue;
    routes[later].mapping.fail_at_key(
        "name", "name: the route in line " + std::to_string(routes[i].route.line) +
                    " is called \"" + route.name + "\" too; choose another name");
  }
}

void check_reachable(const std::vector<WrittenRoute>& routes, std::size_t later) {
  const Route& route = routes[later].route;
  for (std::size_t i = 0; i < later; ++i) {
    const Route& earlier = routes[i].route;
    if (!shadows(earlier, route)) continue;
    routes[later].mapping.fail_at_key(
        "match", "match: route " + route.name + " is never reached, route " + earlier.name +
                     " in line " + std::to_string(earlier.line) +
                     " takes all its requests first; move it up or remove it");
  }
}

void check_shared_upstream(const std::vector<WrittenRoute>& routes, const WrittenRoute& loose) {
  if (loose.route.allow_escapes.empty()) return;
  for (const WrittenRoute& other : routes) {
    if (!is_keyed(other.route.policy) || other.route.upstream != loose.route.upstream) continue;
    loose.mapping.fail_at_key(
        "allow_escapes",
        "allow_escapes: upstream " + loose.route.upstream_name + " also serves the keyed route " +
            other.route.name + " in line " + std::to_string(other.route.line) +
            ", which such a path could reach unguarded; remove it, or use another upstream");
  }
}

}  // namespace

void check_keys_of_policy(const Mapping& route_mapping, const Route& route) {
  const std::string policy(name(route.policy));
  if (!is_keyed(route.policy)) {
    for (const std::string_view key : kKeyedOnly) {
      if (!route_mapping.find(key)) continue;
      route_mapping.fail_at_key(
          key, std::string(key) +
                   ": only a keyed route remembers calls; write policy: EFFECTFUL or IDEMPOTENT, "
                   "or remove this key");
    }
  }
  if (route.policy == Policy::Effectful && route_mapping.find("retry")) {
    route_mapping.fail_at_key("retry",
                              "retry: an EFFECTFUL call is never retried, a second one is a second "
                              "effect; remove it");
  }
  if (route.policy == Policy::None && route_mapping.find("retry")) {
    route_mapping.fail_at_key("retry",
                              "retry: whether this route may be repeated is unknown; write policy: "
                              "READ_ONLY or IDEMPOTENT, or remove it");
  }
  if (route.policy == Policy::None) return;
  if (const auto upgrade = route_mapping.find("upgrade"); upgrade && upgrade->boolean()) {
    upgrade->fail("a route with policy " + policy +
                  " passes no Upgrade through; remove it, or the policy");
  }
  if (const auto escapes = route_mapping.find("allow_escapes")) {
    escapes->fail("a route with policy " + policy +
                  " takes no ambiguous path; remove it, or the policy");
  }
}

void check_route(const WrittenRoute& written, const Config& config) {
  const Route& route = written.route;
  if (!is_keyed(route.policy)) return;
  check_methods(written.mapping, route);
  check_run(written.mapping, route);
  check_store(written.mapping, route, config);
  check_windows(written.mapping, route);
  check_bodies(written.mapping, route, config);
  if (route.policy == Policy::Effectful && route.on_store_down == OnStoreDown::Forward) {
    written.mapping.fail_at_key("on_store_down",
                                "on_store_down: an EFFECTFUL call is never forwarded without its "
                                "claim; write refuse or remove it");
  }
}

void check_routes(const std::vector<WrittenRoute>& routes) {
  for (std::size_t i = 0; i < routes.size(); ++i) {
    check_names(routes, i);
    check_reachable(routes, i);
    check_shared_upstream(routes, routes[i]);
  }
}

std::vector<std::string> warnings_of(const WrittenRoute& written) {
  std::vector<std::string> warnings;
  const Route& route = written.route;
  if (!is_keyed(route.policy)) return warnings;
  const auto warn = [&](Place place, const std::string& sentence) {
    warnings.push_back(route.file + ":" + std::to_string(place.line) + ":" +
                       std::to_string(place.column) + ": route " + route.name + ": " + sentence);
  };
  const Mapping key = written.mapping.require("key").mapping(kKeyGrammar);
  if (!route.key.run && route.key.client_key != ClientKey::Required) {
    warn(key.place_of("run"), "run: none: equal calls of one tenant within " +
                                  to_text(route.retention) + " are ONE call");
  }
  if (route.key.client_key == ClientKey::Optional && !route.key.fields.empty()) {
    warn(written.mapping.place_of("client_key"),
         "client_key: optional beside fields: the same effect asked once with a client key and "
         "once without has two keys");
  }
  // A tool that answers so says that it did something, or does not say that it did nothing.
  StatusSet told = route.record.release_on;
  for (std::size_t status = 300; status < 500; ++status) told.reset(status);
  if (route.policy == Policy::Effectful && told.any()) {
    warn(written.mapping.place_of("record"),
         "release_on: after " + to_text(told) +
             " a repetition runs again: a tool that took effect and answered so does it twice");
  }
  return warnings;
}

}  // namespace semel::config
