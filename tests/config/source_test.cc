#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load.h"

namespace semel::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using From = ValueSource::From;

std::optional<std::string> nothing(const std::string&) { return std::nullopt; }

/// A configuration whose one route keys by `run`; the listener asks for client certificates.
std::string with_run(const std::string& run) {
  return "version: 1\n"
         "listen: {address: \"h:1\", tls: {certificate: c, key: k, client_ca: a}}\n"
         "store: {sqlite: {path: p}}\n"
         "upstreams: {u: {endpoints: [\"http://h:1\"]}}\n"
         "routes:\n"
         "  - name: r\n"
         "    match: {methods: [POST, DELETE], path: \"/a/{id}\"}\n"
         "    upstream: u\n"
         "    policy: EFFECTFUL\n"
         "    key:\n"
         "      tenant: {constant: acme}\n"
         "      run: " +
         run + "\n";
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(load_text(text, "f", nothing));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ValueSources, EveryKindIsTaken) {
  struct Row {
    const char* text;
    ValueSource source;
  };
  for (const Row& row : {
           Row{"{header: X-Run-Id}", {From::Header, "X-Run-Id", false}},
           Row{"{header: X-Request-Id, stable: true}", {From::Header, "X-Request-Id", true}},
           Row{"{path: id}", {From::PathParam, "id", false}},
           Row{"{query: run}", {From::Query, "run", false}},
           Row{"{body: /run/id}", {From::Body, "/run/id", false}},
           Row{"{body: \"\"}", {From::Body, "", false}},
           Row{"{body: /a~1b~0c}", {From::Body, "/a~1b~0c", false}},
           Row{"{constant: one}", {From::Constant, "one", false}},
           Row{"{tls: subject}", {From::TlsSubject, "", false}},
           Row{"{tls: uri}", {From::TlsUri, "", false}},
           Row{"{tls: dns}", {From::TlsDns, "", false}},
           Row{"{authorization: digest, static: true}", {From::AuthorizationDigest, "", false}},
       }) {
    const Config config = load_text(with_run(row.text), "f", nothing);
    EXPECT_EQ(config.routes[0].key.run, row.source) << row.text;
  }
}

TEST(ValueSources, WrongOnesAreRefusedWithTheCure) {
  struct Row {
    const char* text;
    const char* error;
  };
  for (const Row& row : {
           Row{"X-Run-Id", "run: is no source; write one such as {header"},
           Row{"off", "run: is no source"},
           Row{"{}", "run: names no source; write one of"},
           Row{"{header: A, query: b}", "run: names both header and query; keep exactly one"},
           Row{"{heder: A}", "unknown key \"heder\"; did you mean \"header\"?"},
           Row{"{header: \"a b\"}", "\"a b\" is no header name"},
           Row{"{header: Connection}", "belongs to one connection"},
           Row{"{header: authorization}", "write {authorization: digest, static: true}"},
           Row{"{authorization: raw, static: true}", "unknown word \"raw\""},
           Row{"{authorization: digest, static: false}", "say static: true"},
           Row{"{query: \"\"}", "query: is empty"},
           Row{"{constant: 7}", "7 is no text in YAML; write \"7\""},
           Row{"{constant: true}", "true is no text in YAML"},
           Row{"{tls: issuer}", "unknown word \"issuer\""},
           Row{"{path: idd}", "has no {idd}; write \"id\""},
           Row{"{body: run}", "is no JSON Pointer; write \"/run\""},
           Row{"{body: /a~2}", "is no JSON Pointer; write \"/a~02\""},
           Row{"{body: /a~}", "is no JSON Pointer; write \"/a~0\""},
           Row{"{body: \"#/a\"}", "is no JSON Pointer; write \"/a\""},
           Row{"{query: q, stable: true}", "only a header may be called stable"},
           Row{"{header: A, static: true}", "only authorization may be called static"},
       }) {
    EXPECT_THAT(error_of(with_run(row.text)), HasSubstr(row.error)) << row.text;
  }
}

TEST(ValueSources, WhatChangesInARetryNeedsTheOperatorsWord) {
  for (const char* name : {"traceparent", "TraceParent", "tracestate", "X-Request-Id",
                           "X-B3-TraceId", "X-Amzn-Trace-Id", "x-stainless-retry-count",
                           "X-Retry-Count", "X-Attempt", "X-Attempt-Number"}) {
    EXPECT_THAT(error_of(with_run("{header: " + std::string(name) + "}")),
                HasSubstr("say stable: true"))
        << name;
    EXPECT_EQ(error_of(with_run("{header: " + std::string(name) + ", stable: true}")), "accepted")
        << name;
  }
}

TEST(ValueSources, FieldsTakePointersAndSources) {
  const Config config =
      load_text(with_run("none\n      fields: [/a, {query: q}, {header: H}]\n      guards: [/a]"),
                "f", nothing);
  EXPECT_THAT(config.routes[0].key.fields, ElementsAre(ValueSource{From::Body, "/a", false},
                                                       ValueSource{From::Query, "q", false},
                                                       ValueSource{From::Header, "H", false}));
  EXPECT_THAT(config.routes[0].key.guards, ElementsAre(ValueSource{From::Body, "/a", false}));
}

}  // namespace
}  // namespace semel::config
