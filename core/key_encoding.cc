#include "core/key_encoding.h"

#include <string>
#include <utility>

#include "core/canonical_encoding.h"
#include "core/canonical_json.h"

namespace semel {
namespace {

constexpr std::string_view kKeyVersion = "semel-key/1";
constexpr std::string_view kGuardsVersion = "semel-guards/1";
constexpr std::string_view kCallerVersion = "semel-caller/1";
constexpr std::string_view kFingerprintVersion = "semel-fingerprint/1";

void encode_path(const KeyInputs& inputs, CanonicalWriter& writer) {
  const Route& route = *inputs.match->route;
  if (route.key.path == PathInKey::Route) {
    writer.bytes(route.pattern);
    return;
  }
  writer.open(EncodingTag::Array, inputs.path->segments.size());
  for (const std::string& segment : inputs.path->segments) writer.bytes(segment);
}

void encode_query(const KeyParts& parts, CanonicalWriter& writer) {
  if (parts.query.has_value()) {
    writer.bytes(*parts.query);
  } else {
    writer.open(EncodingTag::Absent);
  }
}

void encode_body(const RequestBody& body, const ValueTape& tape, CanonicalWriter& writer) {
  switch (body.shape) {
    case BodyShape::Absent:
      return writer.open(EncodingTag::Absent);
    case BodyShape::Values:
      return encode_value(tape, 0, writer);
    case BodyShape::Bytes:
      return writer.bytes(body.bytes);
    case BodyShape::Pieces:
      writer.open(EncodingTag::Array, body.pieces.size());
      for (const std::string_view piece : body.pieces) writer.bytes(piece);
      return;
  }
}

void encode_named(const std::vector<NamedValue>& values, const ValueTape& tape,
                  CanonicalWriter& writer) {
  writer.open(EncodingTag::Object, values.size());
  for (const NamedValue& named : values) {
    writer.text(named.name);
    encode_source_value(named.value, tape, writer);
  }
}

void encode_conditions(const KeyParts& parts, CanonicalWriter& writer) {
  writer.open(EncodingTag::Object, parts.conditions.size());
  for (const auto& [name, values] : parts.conditions) {
    writer.text(name);
    writer.open(EncodingTag::Array, values.size());
    for (const std::string_view value : values) writer.bytes(value);
  }
}

void encode_whole_request(const KeyParts& parts, const ValueTape& tape, CanonicalWriter& writer) {
  writer.open(EncodingTag::Object, 3);
  writer.text("body");
  encode_body(parts.body, tape, writer);
  writer.text("headers");
  encode_conditions(parts, writer);
  writer.text("query");
  encode_query(parts, writer);
}

void encode_arguments(const KeyInputs& inputs, const KeyParts& parts, const ValueTape& tape,
                      CanonicalWriter& writer) {
  if (parts.kind == KeySource::Client) {
    writer.bytes(parts.client_key);
  } else if (inputs.match->route->key.fields.empty()) {
    encode_whole_request(parts, tape, writer);
  } else {
    encode_named(parts.fields, tape, writer);
  }
}

template <class DigestType>
DigestType finish(CanonicalWriter& writer) {
  return DigestType{writer.finish()};
}

FingerprintDigest digest_fingerprint(const KeyInputs& inputs, const KeyParts& parts,
                                     const ValueTape& tape, Sha256& hasher) {
  CanonicalWriter writer(hasher);
  writer.open(EncodingTag::Frame, 4);
  writer.bytes(kFingerprintVersion);
  encode_path(inputs, writer);
  encode_query(parts, writer);
  if (inputs.match->route->key.fields.empty()) {
    encode_body(parts.body, tape, writer);
  } else {
    encode_named(parts.fields, tape, writer);
  }
  return finish<FingerprintDigest>(writer);
}

void encode_key(const KeyInputs& inputs, const KeyParts& parts, const ValueTape& tape,
                CanonicalWriter& writer) {
  const Route& route = *inputs.match->route;
  writer.open(EncodingTag::Frame, 9);
  writer.bytes(kKeyVersion);
  if (route.key_version.has_value()) {
    writer.bytes(std::to_string(*route.key_version));
  } else {
    writer.open(EncodingTag::Absent);
  }
  writer.bytes(name(parts.kind));
  encode_source_value(parts.tenant, tape, writer);
  encode_source_value(parts.run, tape, writer);
  writer.bytes(route.name);
  writer.bytes(inputs.method);
  if (parts.kind == KeySource::Client) {
    writer.open(EncodingTag::Absent);
  } else {
    encode_path(inputs, writer);
  }
  encode_arguments(inputs, parts, tape, writer);
}

Bindings digest_bindings(const KeyInputs& inputs, const KeyParts& parts, const ValueTape& tape,
                         Sha256& hasher) {
  const KeyRecipe& recipe = inputs.match->route->key;
  Bindings bindings;
  if (recipe.caller.has_value()) {
    CanonicalWriter writer(hasher);
    writer.open(EncodingTag::Frame, 2);
    writer.bytes(kCallerVersion);
    encode_source_value(parts.caller, tape, writer);
    bindings.caller = finish<CallerDigest>(writer);
  }
  if (!recipe.guards.empty()) {
    CanonicalWriter writer(hasher);
    writer.open(EncodingTag::Frame, 2);
    writer.bytes(kGuardsVersion);
    encode_named(parts.guards, tape, writer);
    bindings.guards = finish<GuardDigest>(writer);
  }
  if (parts.kind == KeySource::Client) {
    bindings.fingerprint = digest_fingerprint(inputs, parts, tape, hasher);
  }
  return bindings;
}

}  // namespace

DerivedKey digest_key(const KeyInputs& inputs, KeyParts& parts, const ValueTape& tape,
                      Sha256& hasher, std::string* transcript) {
  DerivedKey derived;
  CanonicalWriter writer(hasher, transcript);
  encode_key(inputs, parts, tape, writer);
  derived.key = finish<IdempotencyKey>(writer);
  derived.source = parts.kind;
  derived.bindings = digest_bindings(inputs, parts, tape, hasher);
  derived.tenant = std::move(parts.tenant_text);
  derived.client_key = std::move(parts.client_key);
  return derived;
}

}  // namespace semel
