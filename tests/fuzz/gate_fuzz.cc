// Any bytes as a client's connection: the gate, the body behind it, and the request that the tool
// would get.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/check.h"
#include "core/header_rules.h"
#include "core/normal_path.h"
#include "proxy/byte_gate.h"
#include "proxy/forwarded_request.h"
#include "tests/fuzz/bodies.h"

namespace {

using namespace semel;
using namespace semel::proxy;

bool lies_in(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

/// What every head that passed must be, whatever the bytes were.
void check_head(std::string_view bytes, const RequestHead& head) {
  SEMEL_CHECK(head.head_bytes <= bytes.size() && head.head_bytes <= kHeadBytesMax);
  SEMEL_CHECK(bytes.substr(0, head.head_bytes).ends_with("\r\n\r\n"));
  SEMEL_CHECK(is_token(head.method) && !head.host.empty() && !head.target.empty());
  SEMEL_CHECK(head.target.front() == '/' || (head.target == "*" && head.method == "OPTIONS"));
  int lengths = 0;
  int codings = 0;
  for (const HeaderField& field : head.fields.all()) {
    SEMEL_CHECK(lies_in(field.name, bytes) && lies_in(field.value, bytes));
    SEMEL_CHECK(is_token(field.name) && is_field_value(field.value));
    lengths += same_name(field.name, "content-length");
    codings += same_name(field.name, "transfer-encoding");
  }
  SEMEL_CHECK(lengths + codings <= 1);
  SEMEL_CHECK((head.framing == Framing::Length) == (lengths == 1));
  SEMEL_CHECK((head.framing == Framing::Chunked) == (codings == 1));
}

/// Normalising once more must change nothing: the forwarded path reads the same at the next hop.
void check_path(std::string_view path) {
  const auto once = normalise_path(path, /*loose=*/true);
  const auto* normal = std::get_if<NormalPath>(&once);
  if (!normal) return;
  const auto twice = normalise_path(normal->text, /*loose=*/true);
  SEMEL_CHECK(std::holds_alternative<NormalPath>(twice) && std::get<NormalPath>(twice) == *normal);
}

/// Fields of one hop, as RFC 9110 7.6.1 names them, and those that Connection does.
bool ends_here(const RequestHead& head, std::string_view name) {
  for (const char* hop : {"connection", "keep-alive", "proxy-connection", "te", "trailer",
                          "transfer-encoding", "upgrade", "http2-settings"}) {
    if (same_name(name, hop)) return true;
  }
  return std::ranges::any_of(head.fields.all(), [name](const HeaderField& field) {
    return same_name(field.name, "connection") && list_names(field.value, name);
  });
}

/// What we set ourselves, whatever the client's Connection named.
bool is_set_by_us(std::string_view name) {
  for (const char* ours : {"host", "via", "traceparent", "content-length", "x-forwarded-for",
                           "x-forwarded-host", "x-forwarded-proto", "idempotency-key"}) {
    if (same_name(name, ours)) return true;
  }
  return false;
}

/// The request as the tool gets it: our own gate lets it through, as one request with the same
/// method and body, and with nothing in it that was meant for this hop.
void check_forwarded(const RequestHead& head, const NormalPath& path,
                     const std::optional<std::string>& body) {
  static const std::string kKey(64, 'a');
  const Route route;
  ForwardedRequest request;
  request.head = &head;
  request.route = &route;
  request.path = path.text;
  request.client_address = "192.0.2.7";
  request.trace_parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  request.key_hex = body ? kKey : std::string_view();
  request.has_body = head.framing != Framing::None;
  if (body) request.body_length = body->size();
  std::string text;
  request.render(text, "tool:9000");
  RequestHead seen;
  const GateAnswer answer = read_request_head(text, 0, {}, seen);
  if (const auto* refusal = std::get_if<GateRefusal>(&answer)) {
    // Our own fields may have made it too long for ourselves.
    SEMEL_CHECK(refusal->type == ProblemType::HeadersTooLarge ||
                refusal->type == ProblemType::UriTooLong);
    return;
  }
  SEMEL_CHECK(std::holds_alternative<Passed>(answer) && seen.head_bytes == text.size());
  SEMEL_CHECK(seen.method == head.method && seen.path == path.text && seen.query == head.query);
  SEMEL_CHECK(seen.host == "tool:9000" && seen.minor_version == 1 && !seen.wants_upgrade);
  const bool streams = request.has_body && !body;
  SEMEL_CHECK((seen.framing == Framing::Chunked) == streams);
  SEMEL_CHECK(seen.content_length == (body ? body->size() : 0));
  for (const HeaderField& field : seen.fields.all()) {
    if (streams && same_name(field.name, "transfer-encoding")) continue;
    SEMEL_CHECK(is_set_by_us(field.name) || !ends_here(head, field.name));
  }
}

/// Body and tool's view of a head that passed. @param rest  What came behind it.
void check_request(const RequestHead& head, std::string_view rest) {
  const bool chunked = head.framing == Framing::Chunked;
  const auto body = fuzz::check_body(BodyFraming(head.framing, head.content_length), chunked, rest);
  if (head.framing == Framing::Length) SEMEL_CHECK(body.consumed <= head.content_length);
  if (head.target == "*" || body.end != BodyFraming::State::Last) return;
  const auto normal = normalise_path(head.path, /*loose=*/false);
  if (const auto* path = std::get_if<NormalPath>(&normal)) {
    check_forwarded(head, *path, body.data);
    check_forwarded(head, *path, std::nullopt);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  GateRules rules;
  rules.headers_read = {"X-Tenant-Id", "Authorization"};
  if (size % 2 == 0) rules.authorities = {"gw.test"};
  RequestHead head;
  const GateAnswer answer = read_request_head(bytes, 0, rules, head);
  const bool passed = std::holds_alternative<Passed>(answer);
  if (passed) {
    check_head(bytes, head);
    if (head.target != "*") check_path(head.path);
    check_request(head, bytes.substr(head.head_bytes));
  }
  // However the bytes came in, the answer is the same.
  RequestHead resumed;
  const GateAnswer before = read_request_head(bytes.substr(0, size / 2), 0, rules, resumed);
  if (const auto* more = std::get_if<NeedMore>(&before)) {
    const GateAnswer after = read_request_head(bytes, more->scanned, rules, resumed);
    SEMEL_CHECK(std::holds_alternative<Passed>(after) == passed);
    if (passed) SEMEL_CHECK(resumed.head_bytes == head.head_bytes);
  } else {
    SEMEL_CHECK(std::holds_alternative<Passed>(before) == passed);
  }
  return 0;
}
