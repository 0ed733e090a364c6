#include "core/request_body.h"

#include <optional>
#include <string>

#include "core/form.h"
#include "core/json_reader.h"
#include "core/media_type.h"
#include "core/multipart.h"

namespace semel {
namespace {

using Refused = std::optional<KeyRefusal>;

KeyRefusal wrong_type(std::string detail) { return {ProblemType::ContentType, std::move(detail)}; }

Refused refused_for(const std::optional<TextFault>& fault) {
  if (!fault) return std::nullopt;
  return KeyRefusal{ProblemType::BodyAmbiguous, "The body has " + std::string(fault->what) +
                                                    " at byte " + std::to_string(fault->offset) +
                                                    "."};
}

}  // namespace

Refused read_body(const ReceivedBody& received, BodyDemand demand, ValueTape& tape,
                  RequestBody& body) {
  body.shape = BodyShape::Absent;
  if (received.is_encoded) {
    return wrong_type("A keyed route takes no Content-Encoding but identity.");
  }
  if (received.bytes.empty()) return std::nullopt;
  const MediaType media = read_media_type(received.content_type);
  if (media.kind == MediaKind::Json) {
    body.shape = BodyShape::Values;
    return refused_for(read_json(received.bytes, tape));
  }
  const bool form = media.kind == MediaKind::Form;
  if (form && (demand.pointer_named || demand.whole_counts)) {
    body.shape = BodyShape::Values;
    return refused_for(read_form(received.bytes, tape));
  }
  if (demand.pointer_named) {
    return wrong_type(
        "The key is read from the body, which must be application/json or +json in UTF-8, or "
        "application/x-www-form-urlencoded.");
  }
  if (media.kind != MediaKind::Multipart) {
    body.shape = BodyShape::Bytes;
    body.bytes = received.bytes;
    return std::nullopt;
  }
  if (!demand.client_key || media.boundary.empty()) {
    return wrong_type(
        "A multipart body cannot be keyed, because its boundary changes on every attempt: send an "
        "Idempotency-Key where the route accepts one, or another content type.");
  }
  body.shape = BodyShape::Pieces;
  body.pieces = multipart_pieces(received.bytes, media.boundary);
  return std::nullopt;
}

}  // namespace semel
