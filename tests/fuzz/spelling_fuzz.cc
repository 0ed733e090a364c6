// One document in two spellings has one key, another document has another, and every key and every
// refusal is the one that a second implementation of docs/key-format.md comes to.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/check.h"
#include "core/key.h"
#include "tests/fuzz/document.h"
#include "tests/fuzz/key_reference.h"

namespace {

using namespace semel;
using fuzz::KeyedCall;

std::string core_key(const KeyedCall& call) {
  using From = ValueSource::From;
  Route route;
  route.name = "book";
  route.pattern = "/tools/book";
  route.policy = Policy::Effectful;
  route.key.tenant = {From::Header, "X-Tenant-Id", false};
  route.key.run = {From::Header, "X-Run-Id", false};
  for (const std::string& pointer : call.pointers) {
    route.key.fields.push_back({From::Body, pointer, false});
  }
  const std::vector<HeaderField> headers{
      {"X-Tenant-Id", "acme"}, {"X-Run-Id", "run-7"}, {"Content-Type", "application/json"}};
  NormalPath path;
  path.segments = {"tools", "book"};
  const RouteMatch match{&route, {}};
  KeyInputs inputs;
  inputs.method = "POST";
  inputs.path = &path;
  inputs.match = &match;
  if (call.query) inputs.query = *call.query;
  inputs.headers = headers;
  inputs.body = call.body;
  const auto answer = derive_key(inputs);
  if (const auto* refusal = std::get_if<KeyRefusal>(&answer)) {
    return std::string(row(refusal->type).slug);
  }
  return to_hex(std::get<DerivedKey>(answer).key);
}

/// @return The key, or the problem, that both implementations come to.
std::string agreed_key(const KeyedCall& call) {
  const std::string key = core_key(call);
  SEMEL_CHECK(key == fuzz::reference_key(call));
  return key;
}

bool is_key(const std::string& answer) { return answer.size() == 64; }

void check_spellings(std::string_view bytes) {
  fuzz::Dice dice(bytes);
  fuzz::Document document = fuzz::some_document(dice);
  KeyedCall call;
  call.body = fuzz::spelled(document, dice);
  const std::string first = agreed_key(call);
  call.body = fuzz::spelled(document, dice);
  const std::string second = agreed_key(call);
  // Only the bounds of a number count it as written: one spelling may be within, the other not.
  SEMEL_CHECK(first == second || !is_key(first) || !is_key(second));

  fuzz::change_value(document, dice);
  call.body = fuzz::spelled(document, dice);
  const std::string other = agreed_key(call);
  SEMEL_CHECK(!is_key(other) || (other != first && other != second));

  call.pointers = {"/flight", "/meta/0"};
  (void)agreed_key(call);
  call.pointers = {"/\u00e9"};
  (void)agreed_key(call);
}

/// The same bytes as a body and as a query.
void check_bytes(std::string_view bytes) {
  KeyedCall call;
  call.body = bytes;
  (void)agreed_key(call);
  call.pointers = {"/flight", "/meta/0"};
  (void)agreed_key(call);
  call = {};
  call.query = bytes;
  (void)agreed_key(call);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  if (input.empty() || input.front() != '\0') {
    check_bytes(input);
  } else {
    check_spellings(input.substr(1));
  }
  return 0;
}
