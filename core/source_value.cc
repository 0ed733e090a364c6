#include "core/source_value.h"

#include <algorithm>
#include <optional>

#include "core/ascii.h"
#include "core/canonical_json.h"
#include "core/decimal.h"
#include "core/digest.h"
#include "core/form.h"
#include "core/unicode.h"

namespace semel {
namespace {

using From = ValueSource::From;
using Refused = std::optional<KeyRefusal>;

/// The source's kind: first for people, then in the encoding.
std::string_view kind_word(From from) {
  switch (from) {
    case From::Header:
      return "header";
    case From::PathParam:
      return "path";
    case From::Query:
      return "query";
    case From::Body:
      return "body";
    case From::Constant:
      return "constant";
    case From::TlsSubject:
    case From::TlsUri:
    case From::TlsDns:
      return "tls";
    case From::AuthorizationDigest:
      return "authorization";
  }
  return "constant";
}

/// What of its kind the source names.
std::string_view subject(const ValueSource& source) {
  switch (source.from) {
    case From::TlsSubject:
      return "subject";
    case From::TlsUri:
      return "uri";
    case From::TlsDns:
      return "dns";
    case From::AuthorizationDigest:
      return "digest";
    default:
      return source.text;
  }
}

bool is_identity(SourceRole role) {
  return role == SourceRole::Tenant || role == SourceRole::Run || role == SourceRole::Caller;
}

KeyRefusal underivable(const ValueSource& source, std::string_view what) {
  return {ProblemType::KeyUnderivable,
          "The key needs the " + spoken_name(source) + ", which " + std::string(what) + "."};
}

SourceValue one_or_list(std::vector<std::string> values) {
  if (values.empty()) return AbsentValue{};
  if (values.size() == 1) return std::move(values.front());
  return values;
}

SourceValue header_value(const KeyInputs& inputs, std::string_view name) {
  std::optional<std::string_view> only;
  std::vector<std::string> repeated;
  for (const HeaderField& field : inputs.headers) {
    if (!is_named(field, name)) continue;
    const std::string_view value = trimmed(field.value);
    if (!only) {
      only = value;
      continue;
    }
    if (repeated.empty()) repeated.emplace_back(*only);
    repeated.emplace_back(value);
  }
  if (!repeated.empty()) return repeated;
  if (only) return *only;
  return AbsentValue{};
}

SourceValue path_value(const KeyInputs& inputs, std::string_view name) {
  for (const auto& [param, value] : inputs.match->params) {
    if (param == name) return value;
  }
  return AbsentValue{};
}

Refused query_value(const KeyInputs& inputs, std::string_view name, SourceValue& value) {
  std::optional<std::vector<std::string>> values = query_values(inputs.query.value_or(""), name);
  if (!values) return KeyRefusal{ProblemType::BadRequest, "The query has a broken escape."};
  value = one_or_list(std::move(*values));
  return std::nullopt;
}

/// A twin of an absent guard is refused, because taking the guard for absent would not protect what
/// a case-blind server reads; an absent field is refused anyway, under its own name.
Refused body_value(const RequestView& request, const ValueSource& source, SourceRole role,
                   SourceValue& value) {
  value = AbsentValue{};
  if (request.body.shape != BodyShape::Values) return std::nullopt;
  const PointerAnswer answer = find(request.tape, source.text);
  if (const Named* named = std::get_if<Named>(&answer)) {
    value = *named;
    return std::nullopt;
  }
  const bool twin = std::holds_alternative<CaseTwin>(answer) ||
                    (std::holds_alternative<LoneTwin>(answer) && role == SourceRole::Guard);
  if (!twin && !std::holds_alternative<NoObject>(answer)) return std::nullopt;
  return KeyRefusal{
      ProblemType::BodyAmbiguous,
      "The key names " + spoken_name(source) + ", and the body has " +
          (twin ? "a member that differs from it by case only." : "no object to find it in.")};
}

SourceValue non_empty(std::string_view value) {
  if (value.empty()) return AbsentValue{};
  return value;
}

Refused authorization_digest(const KeyInputs& inputs, SourceValue& value) {
  value = header_value(inputs, "Authorization");
  if (std::holds_alternative<std::vector<std::string>>(value)) {
    return KeyRefusal{ProblemType::BadRequest, "The Authorization header came more than once."};
  }
  const std::string_view* text = std::get_if<std::string_view>(&value);
  if (text == nullptr || text->empty()) {
    value = AbsentValue{};
    return std::nullopt;
  }
  const Sha256Bytes digest = sha256(*text);
  value = std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
  return std::nullopt;
}

Refused find_value(const RequestView& request, const ValueSource& source, SourceRole role,
                   SourceValue& value) {
  switch (source.from) {
    case From::Header:
      value = header_value(request.inputs, source.text);
      break;
    case From::PathParam:
      value = path_value(request.inputs, source.text);
      break;
    case From::Query:
      return query_value(request.inputs, source.text, value);
    case From::Body:
      return body_value(request, source, role, value);
    case From::Constant:
      value = std::string_view(source.text);
      break;
    case From::TlsSubject:
      value = non_empty(request.inputs.tls.subject);
      break;
    case From::TlsUri:
      value = non_empty(request.inputs.tls.uri);
      break;
    case From::TlsDns:
      value = non_empty(request.inputs.tls.dns);
      break;
    case From::AuthorizationDigest:
      return authorization_digest(request.inputs, value);
  }
  return std::nullopt;
}

/// True for a header, query or path value without a byte, or a list with such a one.
bool has_empty(const SourceValue& value) {
  if (const auto* view = std::get_if<std::string_view>(&value)) return view->empty();
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  return list != nullptr && std::any_of(list->begin(), list->end(),
                                        [](const std::string& text) { return text.empty(); });
}

}  // namespace

Refused read_source(const RequestView& request, const ValueSource& source, SourceRole role,
                    SourceValue& value) {
  if (Refused refused = find_value(request, source, role, value)) return refused;
  if (role == SourceRole::Guard) return std::nullopt;
  if (std::holds_alternative<AbsentValue>(value)) return underivable(source, "is absent");
  if (has_empty(value)) return underivable(source, "is empty");
  if (is_identity(role) && std::holds_alternative<std::vector<std::string>>(value)) {
    return KeyRefusal{ProblemType::BadRequest,
                      "The " + spoken_name(source) + " came more than once."};
  }
  return std::nullopt;
}

std::string encoded_name(const ValueSource& source) {
  std::string name;
  assign_encoded_name(source, name);
  return name;
}

void assign_encoded_name(const ValueSource& source, std::string& name) {
  name.assign(kind_word(source.from));
  name.push_back(':');
  const std::string_view text = subject(source);
  if (source.from == From::Header) {
    name.append(lower_case(text));
  } else if (is_ascii(text) || !is_utf8(text)) {
    name.append(text);
  } else {
    append_nfc(text, name);
  }
}

std::string spoken_name(const ValueSource& source) {
  return std::string(kind_word(source.from)) + " " + std::string(subject(source));
}

void encode_source_value(const SourceValue& value, const ValueTape& tape, CanonicalWriter& writer) {
  if (const auto* view = std::get_if<std::string_view>(&value)) {
    writer.bytes(*view);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    writer.bytes(*text);
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
    writer.open(EncodingTag::Array, list->size());
    for (const std::string& element : *list) writer.bytes(element);
  } else if (const auto* named = std::get_if<Named>(&value)) {
    encode_value(tape, named->node, writer);
  } else {
    writer.open(EncodingTag::Absent);
  }
}

std::string spoken_value(const SourceValue& value, const ValueTape& tape) {
  if (const auto* view = std::get_if<std::string_view>(&value)) return hex_digits(*view);
  if (const auto* text = std::get_if<std::string>(&value)) return hex_digits(*text);
  if (const auto* named = std::get_if<Named>(&value)) return canonical_text(tape, named->node);
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (list == nullptr) return "absent";
  std::string spoken;
  for (const std::string& element : *list) {
    if (!spoken.empty()) spoken.push_back(' ');
    spoken.append(hex_digits(element));
  }
  return spoken;
}

std::optional<std::string> plain_text(const SourceValue& value, const ValueTape& tape) {
  if (const auto* view = std::get_if<std::string_view>(&value)) return std::string(*view);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const auto* named = std::get_if<Named>(&value);
  if (named == nullptr) return std::nullopt;
  const ValueNode& node = tape.node(named->node);
  std::string text;
  if (node.kind == ValueKind::Text) {
    std::string scratch;
    text = tape.text(node, scratch);
  } else if (node.kind == ValueKind::Number) {
    text = canonical_text(tape, named->node);
  } else {
    return std::nullopt;
  }
  return text;
}

}  // namespace semel
