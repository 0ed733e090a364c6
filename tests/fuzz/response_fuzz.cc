// Any bytes as an upstream's answer: its head, and the body behind it.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "core/check.h"
#include "core/header_rules.h"
#include "proxy/http1_reader.h"
#include "tests/fuzz/bodies.h"

namespace {

using namespace semel;
using namespace semel::proxy;

void check_head(std::string_view bytes, const ResponseHead& head, std::string_view method) {
  SEMEL_CHECK(head.head_bytes <= bytes.size() && head.head_bytes <= kHeadBytesMax);
  SEMEL_CHECK(bytes.substr(0, head.head_bytes).ends_with("\r\n\r\n"));
  SEMEL_CHECK(head.status >= 200 && head.status <= 599);
  SEMEL_CHECK(is_field_value(head.reason));
  int framings = 0;
  for (const HeaderField& field : head.fields.all()) {
    SEMEL_CHECK(is_token(field.name) && is_field_value(field.value));
    framings += same_name(field.name, "content-length");
    framings += same_name(field.name, "transfer-encoding");
  }
  SEMEL_CHECK(framings <= 1);
  const bool bodiless = method == "HEAD" || head.status == 204 || head.status == 304;
  SEMEL_CHECK((head.framing == Framing::None) == bodiless);
  if (!bodiless) SEMEL_CHECK((head.framing == Framing::UntilClose) == (framings == 0));
  if (head.framing == Framing::UntilClose) SEMEL_CHECK(!head.keep_alive);
}

/// An answer ends where its framing says, and bytes behind it are never part of it (spec 7).
void check_body(const ResponseHead& head, std::string_view rest) {
  using State = BodyFraming::State;
  const bool chunked = head.framing == Framing::Chunked;
  const auto body = fuzz::check_body(BodyFraming(head.framing, head.content_length), chunked, rest);
  switch (head.framing) {
    case Framing::None:
      SEMEL_CHECK(body.end == State::Last && body.data.empty() && body.consumed == 0);
      break;
    case Framing::Length:
      SEMEL_CHECK((body.end == State::Last) == (rest.size() >= head.content_length));
      SEMEL_CHECK(body.data == rest.substr(0, body.consumed));
      if (body.end == State::Last) SEMEL_CHECK(body.consumed == head.content_length);
      break;
    case Framing::Chunked:
      SEMEL_CHECK(body.consumed <= rest.size() && body.data.size() <= rest.size());
      break;
    case Framing::UntilClose:
      SEMEL_CHECK(body.end == State::More && body.data == rest);
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view method : {"GET", "HEAD"}) {
    ResponseHead head;
    const ResponseAnswer answer = read_response_head(bytes, 0, method, head);
    if (std::holds_alternative<Passed>(answer)) {
      check_head(bytes, head, method);
      check_body(head, bytes.substr(head.head_bytes));
    }
    if (const auto* interim = std::get_if<Interim>(&answer)) {
      SEMEL_CHECK(interim->head_bytes > 0 && interim->head_bytes <= bytes.size());
    }
    // However the bytes came in, the answer is the same.
    ResponseHead resumed;
    const ResponseAnswer before = read_response_head(bytes.substr(0, size / 2), 0, method, resumed);
    const auto* more = std::get_if<NeedMore>(&before);
    if (!more) {
      SEMEL_CHECK(before.index() == answer.index());
      continue;
    }
    const ResponseAnswer after = read_response_head(bytes, more->scanned, method, resumed);
    // Wrong bytes behind the first line may be found only when the head is complete.
    const bool found_later = std::holds_alternative<NeedMore>(after) &&
                             std::holds_alternative<MalformedResponse>(answer);
    SEMEL_CHECK(found_later || after.index() == answer.index());
  }
  return 0;
}
