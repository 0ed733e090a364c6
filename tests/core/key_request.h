#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/key.h"

namespace semel::testing {

/// One request on one keyed route, as a test spells it. Begins as a booking of the tenant `acme`
/// with the whole request as its argument; a test changes what it is about.
struct KeyRequest {
  KeyRequest() {
    route.name = "book";
    route.pattern = "/tools/book";
    route.policy = Policy::Effectful;
    route.key.tenant = source(ValueSource::From::Header, "X-Tenant-Id");
    route.key.run = source(ValueSource::From::Header, "X-Run-Id");
    path.segments = {"tools", "book"};
  }

  static ValueSource source(ValueSource::From from, std::string text = {}) {
    return {from, std::move(text), false};
  }
  static ValueSource body_at(std::string pointer) {
    return source(ValueSource::From::Body, std::move(pointer));
  }

  /// Sends JSON and names its key fields.
  KeyRequest& json(std::string text, std::vector<std::string> pointers = {}) {
    body = std::move(text);
    headers.emplace_back("Content-Type", "application/json");
    for (std::string& pointer : pointers) route.key.fields.push_back(body_at(std::move(pointer)));
    return *this;
  }
  KeyRequest& header(std::string name, std::string value) {
    headers.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  KeyRequest& without(std::string_view name) {
    std::erase_if(headers, [name](const auto& header) { return header.first == name; });
    return *this;
  }

  template <class Ask>
  [[nodiscard]] auto with_inputs(Ask ask) const {
    std::vector<HeaderField> fields;
    for (const auto& [name, value] : headers) fields.push_back({name, value});
    RouteMatch match;
    match.route = &route;
    for (const auto& [name, value] : params) match.params.emplace_back(name, value);
    KeyInputs inputs;
    inputs.method = method;
    inputs.path = &path;
    inputs.match = &match;
    if (query) inputs.query = *query;
    inputs.headers = fields;
    inputs.body = body;
    inputs.tls = tls;
    return ask(inputs);
  }

  [[nodiscard]] std::variant<DerivedKey, KeyRefusal> derive() const {
    return with_inputs([](const KeyInputs& inputs) { return derive_key(inputs); });
  }
  [[nodiscard]] std::variant<KeyExplanation, KeyRefusal> explain() const {
    return with_inputs([](const KeyInputs& inputs) { return explain_key(inputs); });
  }

  /// The key in hexadecimal, or the refusal's slug: what most laws compare.
  [[nodiscard]] std::string verdict() const {
    const auto answer = derive();
    if (const auto* refusal = std::get_if<KeyRefusal>(&answer)) {
      return std::string(row(refusal->type).slug);
    }
    return to_hex(std::get<DerivedKey>(answer).key);
  }
  [[nodiscard]] bool is_keyed() const { return std::holds_alternative<DerivedKey>(derive()); }
  [[nodiscard]] DerivedKey key() const { return std::get<DerivedKey>(derive()); }
  [[nodiscard]] std::string refusal() const { return std::get<KeyRefusal>(derive()).detail; }

  Route route;
  NormalPath path;
  std::vector<std::pair<std::string, std::string>> params;
  std::string method = "POST";
  std::optional<std::string> query;
  std::vector<std::pair<std::string, std::string>> headers{{"X-Tenant-Id", "acme"},
                                                           {"X-Run-Id", "run-7"}};
  std::string body;
  TlsIdentity tls;
};

}  // namespace semel::testing
