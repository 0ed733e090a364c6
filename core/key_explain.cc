// Lays open what key.cc does, for people: the same reading, the same bytes, with every step named.
// Called by `semel explain` only, so that it may show arguments; nothing of it is ever logged.

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/ascii.h"
#include "core/canonical_json.h"
#include "core/json_text.h"
#include "core/key.h"
#include "core/key_encoding.h"
#include "core/key_parts.h"
#include "core/source_value.h"

namespace semel {
namespace {

std::string hex_list(const std::vector<std::string_view>& list) {
  std::string digits;
  for (const std::string_view element : list) {
    if (!digits.empty()) digits.push_back(' ');
    digits.append(hex_digits(element));
  }
  return digits;
}

std::string spoken_body(const RequestBody& body, const ValueTape& tape) {
  switch (body.shape) {
    case BodyShape::Absent:
      return "absent";
    case BodyShape::Values:
      return canonical_text(tape, 0);
    case BodyShape::Bytes:
      return hex_digits(body.bytes);
    case BodyShape::Pieces:
      return hex_list(body.pieces);
  }
  return "absent";
}

void explain_arguments(const KeyInputs& inputs, const KeyParts& parts, const ValueTape& tape,
                       KeyExplanation& explanation) {
  auto& arguments = explanation.arguments;
  if (parts.kind == KeySource::Client) {
    std::string& value = arguments.emplace_back("header Idempotency-Key", "").second;
    append_json_string(value, parts.client_key);
    return;
  }
  for (const NamedValue& field : parts.fields) {
    arguments.emplace_back(spoken_name(*field.source), spoken_value(field.value, tape));
  }
  if (!inputs.match->route->key.fields.empty()) return;
  arguments.emplace_back("whole body", spoken_body(parts.body, tape));
  arguments.emplace_back("query", parts.query ? hex_digits(*parts.query) : "absent");
  for (const auto& [name, values] : parts.conditions) {
    arguments.emplace_back("header " + name, hex_list(values));
  }
}

void explain_bindings(const Bindings& bindings, KeyExplanation& explanation) {
  const auto add = [&explanation](const char* what, const auto& digest) {
    if (digest != std::decay_t<decltype(digest)>{}) {
      explanation.bindings.emplace_back(what, to_hex(digest));
    }
  };
  add("guards", bindings.guards);
  add("caller", bindings.caller);
  add("fingerprint", bindings.fingerprint);
}

}  // namespace

std::variant<KeyExplanation, KeyRefusal> explain_key(const KeyInputs& inputs) {
  ValueTape tape;
  KeyParts parts;
  if (auto refusal = gather(inputs, tape, parts)) return *std::move(refusal);
  const Route& route = *inputs.match->route;

  KeyExplanation explanation;
  explanation.kind = name(parts.kind);
  explanation.tenant = parts.tenant_text;
  if (!std::holds_alternative<AbsentValue>(parts.run)) {
    std::optional<std::string> run = plain_text(parts.run, tape);
    explanation.run = run ? std::move(*run) : spoken_value(parts.run, tape);
  }
  explanation.operation = route.name;
  explanation.method = inputs.method;
  if (route.key.path == PathInKey::Route) {
    explanation.path.push_back(route.pattern);
  } else {
    explanation.path = inputs.path->segments;
  }
  explain_arguments(inputs, parts, tape, explanation);
  std::string transcript;
  Sha256 hasher;
  explanation.derived = digest_key(inputs, parts, tape, hasher, &transcript);
  explanation.canonical_hex = hex_digits(transcript);
  explain_bindings(explanation.derived.bindings, explanation);
  return explanation;
}

}  // namespace semel
