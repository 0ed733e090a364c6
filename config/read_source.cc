#include "config/read_source.h"

#include <algorithm>

#include "core/ascii.h"
#include "core/header_rules.h"
#include "core/source_value.h"

namespace semel::config {
namespace {

using From = ValueSource::From;

constexpr std::string_view kKinds[] = {"header",   "path", "query",        "body",
                                       "constant", "tls",  "authorization"};

/// Names whose values change from one attempt to the next, so that a retry would be a new key.
constexpr std::string_view kUnstableNames[] = {
    "traceparent",     "tracestate",           "x-request-id", "request-id",
    "x-amzn-trace-id", "x-amzn-requestid",     "b3",           "x-cloud-trace-context",
    "uber-trace-id",   "sentry-trace",         "retry-count",  "amz-sdk-request",
    "attempt",         "amz-sdk-invocation-id"};
constexpr std::string_view kUnstablePrefixes[] = {"x-b3-", "x-datadog-", "x-retry", "x-attempt",
                                                  "x-stainless-retry"};

bool is_unstable(std::string_view name) {
  const std::string lower = lower_case(name);
  const auto is_name = [&](std::string_view known) { return lower == known; };
  const auto is_prefix = [&](std::string_view known) { return lower.starts_with(known); };
  return std::any_of(std::begin(kUnstableNames), std::end(kUnstableNames), is_name) ||
         std::any_of(std::begin(kUnstablePrefixes), std::end(kUnstablePrefixes), is_prefix);
}

/// RFC 6901 section 3.
bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = text.find('~'); i != std::string_view::npos; i = text.find('~', i + 1)) {
    if (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')) return false;
  }
  return true;
}

std::string suggested_pointer(std::string_view text) {
  while (!text.empty() && (text[0] == '$' || text[0] == '#' || text[0] == '.' || text[0] == '/')) {
    text.remove_prefix(1);
  }
  std::string pointer = "/";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape =
        i + 1 < text.size() && text[i] == '~' && (text[i + 1] == '0' || text[i + 1] == '1');
    pointer += text[i];
    if (text[i] == '~' && !is_escape) pointer += '0';
  }
  return pointer;
}

ValueSource read_header(const Value& value, bool stable) {
  const std::string name = value.nonempty_text();
  if (!is_token(name)) value.fail("\"" + name + "\" is no header name; write one such as X-Run-Id");
  if (same_name(name, "authorization")) {
    value.fail(
        "a token must not be read as it stands; write {authorization: digest, static: true}");
  }
  if (is_hop_by_hop(name)) {
    value.fail(name + " belongs to one connection, not to the call; name another header");
  }
  if (is_unstable(name) && !stable) {
    value.fail(name +
               " usually changes in a retry, which would then be a second call; name another "
               "header, or say stable: true");
  }
  return {From::Header, name, stable};
}

ValueSource read_path(const Value& value, const SourceScope& scope) {
  const std::string name = value.nonempty_text();
  std::vector<std::string_view> params;
  for (const PatternSegment& segment : scope.segments) {
    if (segment.kind == PatternSegment::Kind::Param) params.push_back(segment.text);
  }
  if (std::find(params.begin(), params.end(), name) == params.end()) {
    value.fail("the route's path has no {" + name + "}; " +
               (params.empty() ? "write {" + name + "} into match: path, or name another source"
                               : "write " + enumerate(params)));
  }
  return {From::PathParam, name, false};
}

ValueSource read_body(const Value& value, const SourceScope& scope) {
  const std::string pointer = value.text();
  if (!is_json_pointer(pointer)) {
    value.fail("\"" + pointer + "\" is no JSON Pointer; write \"" + suggested_pointer(pointer) +
               "\"");
  }
  constexpr std::string_view kBodiless[] = {"GET", "HEAD", "OPTIONS", "TRACE"};
  for (const std::string& method : scope.methods) {
    if (std::find(std::begin(kBodiless), std::end(kBodiless), method) == std::end(kBodiless)) {
      continue;
    }
    value.fail(
        "a " + method + " request has no body to read " + (pointer.empty() ? "it" : pointer) +
        " from; use a header, path or query source, or give " + method + " a route of its own");
  }
  return {From::Body, pointer, false};
}

ValueSource read_tls(const Value& value, const SourceScope& scope) {
  const From from = value.word<From>(
      {{"subject", From::TlsSubject}, {"uri", From::TlsUri}, {"dns", From::TlsDns}});
  if (!scope.has_client_certificates) {
    value.fail(
        "clients show no certificate here; write listen: tls: client_ca: ..., or name "
        "another source");
  }
  return {from, "", false};
}

ValueSource read_authorization(const Value& value, const Mapping& mapping) {
  static_cast<void>(value.word<bool>({{"digest", true}}));
  const auto is_static = mapping.find("static");
  if (!is_static || !is_static->boolean()) {
    value.fail(
        "a token that is renewed makes a retry a second call; say static: true if tokens "
        "outlive the retention, or name another source");
  }
  return {From::AuthorizationDigest, "", false};
}

/// The one member that says where the value comes from.
Value kind_of(const Value& value, const Mapping& mapping) {
  std::optional<Value> kind;
  for (const std::string_view name : kKinds) {
    const auto found = mapping.find(name);
    if (!found) continue;
    if (kind) {
      value.fail("names both " + kind->name() + " and " + found->name() + "; keep exactly one");
    }
    kind = found;
  }
  if (!kind) {
    value.fail("names no source; write one of " +
               enumerate({std::begin(kKinds), std::end(kKinds)}));
  }
  return *kind;
}

}  // namespace

ValueSource read_source(const Value& value, const SourceScope& scope) {
  if (!value.is_mapping()) value.fail("is no source; write one such as {header: X-Tenant-Id}");
  const Mapping mapping = value.mapping(kSourceGrammar);
  const Value kind = kind_of(value, mapping);
  const auto stable = mapping.find("stable");
  if (stable && kind.name() != "header")
    stable->fail("only a header may be called stable; remove it");
  const auto is_static = mapping.find("static");
  if (is_static && kind.name() != "authorization") {
    is_static->fail("only authorization may be called static; remove it");
  }
  if (kind.name() == "header") return read_header(kind, stable && stable->boolean());
  if (kind.name() == "path") return read_path(kind, scope);
  if (kind.name() == "query") return {From::Query, kind.nonempty_text(), false};
  if (kind.name() == "body") return read_body(kind, scope);
  if (kind.name() == "tls") return read_tls(kind, scope);
  if (kind.name() == "authorization") return read_authorization(kind, mapping);
  return {From::Constant, kind.nonempty_text(), false};
}

std::vector<ValueSource> read_source_set(const Value& value, const SourceScope& scope) {
  std::vector<ValueSource> sources;
  for (const Value& item : value.items()) {
    ValueSource source = item.is_mapping() ? read_source(item, scope) : read_body(item, scope);
    for (const ValueSource& earlier : sources) {
      if (encoded_name(earlier) == encoded_name(source)) {
        item.fail("\"" + source.text + "\" is named twice in " + value.name() + "; remove one");
      }
    }
    sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace semel::config
