#include "core/request_body.h"

#include <optional>
#include <string>

#include "core/ascii.h"
#include "core/form.h"
#include "core/header_rules.h"
#include "core/json_reader.h"
#include "core/media_type.h"
#include "core/multipart.h"

namespace semel {
namespace {

using BodyAnswer = std::variant<RequestBody, KeyRefusal>;

KeyRefusal wrong_type(std::string detail) { return {ProblemType::ContentType, std::move(detail)}; }

BodyAnswer values_unless(const std::optional<TextFault>& fault) {
  if (!fault) return RequestBody{BodyShape::Values, {}, {}};
  return KeyRefusal{ProblemType::BodyAmbiguous, "The body has " + std::string(fault->what) +
                                                    " at byte " + std::to_string(fault->offset) +
                                                    "."};
}

BodyAnswer read_multipart(std::string_view body, const MediaType& media, BodyDemand demand) {
  if (!demand.client_key || media.boundary.empty()) {
    return wrong_type(
        "A multipart body cannot be keyed, because its boundary changes on every attempt: send an "
        "Idempotency-Key where the route accepts one, or another content type.");
  }
  return RequestBody{BodyShape::Pieces, {}, multipart_pieces(body, media.boundary)};
}

}  // namespace

BodyAnswer read_body(const KeyInputs& inputs, BodyDemand demand, ValueTape& tape) {
  MediaType media;
  for (const HeaderField& field : inputs.headers) {
    if (is_named(field, "Content-Encoding") && !trimmed(field.value).empty() &&
        !same_name(trimmed(field.value), "identity")) {
      return wrong_type("A keyed route takes no Content-Encoding but identity.");
    }
    if (is_named(field, "Content-Type")) media = read_media_type(field.value);
  }
  if (inputs.body.empty()) return RequestBody{};
  if (media.kind == MediaKind::Json) return values_unless(read_json(inputs.body, tape));
  const bool form = media.kind == MediaKind::Form;
  if (form && (demand.pointer_named || demand.whole_counts)) {
    return values_unless(read_form(inputs.body, tape));
  }
  if (demand.pointer_named) {
    return wrong_type(
        "The key is read from the body, which must be application/json or +json in UTF-8, or "
        "application/x-www-form-urlencoded.");
  }
  if (media.kind == MediaKind::Multipart) return read_multipart(inputs.body, media, demand);
  return RequestBody{BodyShape::Bytes, inputs.body, {}};
}

}  // namespace semel
