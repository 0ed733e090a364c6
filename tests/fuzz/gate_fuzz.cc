// Any bytes as a client's connection: the gate and the chunk decoder behind it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/check.h"
#include "core/header_rules.h"
#include "core/normal_path.h"
#include "proxy/byte_gate.h"
#include "proxy/http1_reader.h"

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

/// The body and the end, when the input comes in pieces.
std::string decode(std::string_view input, std::size_t piece) {
  ChunkDecoder decoder;
  std::string body;
  while (true) {
    const ChunkDecoder::Step step = decoder.next(input.substr(0, piece));
    input.remove_prefix(step.consumed);
    body += step.data;
    if (step.state == ChunkDecoder::State::Done) return body + "|" + std::string(input);
    if (step.state == ChunkDecoder::State::Malformed) return "malformed";
    if (input.empty()) return body + "...";
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
    const std::string_view body = bytes.substr(head.head_bytes);
    SEMEL_CHECK(decode(body, body.size() + 1) == decode(body, 1));
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
