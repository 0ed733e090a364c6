// A key from any bytes, in every place where a client may put bytes. Deriving twice gives one
// answer, and explaining gives the same key and bindings.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "core/key.h"

namespace {

semel::Route booking() {
  using From = semel::ValueSource::From;
  semel::Route route;
  route.name = "book";
  route.pattern = "/tools/book";
  route.key.tenant = {From::Constant, "acme", false};
  return route;
}

void check_answers(const semel::KeyInputs& inputs) {
  const auto first = semel::derive_key(inputs);
  const auto second = semel::derive_key(inputs);
  const auto explained = semel::explain_key(inputs);
  SEMEL_CHECK(first.index() == second.index() && first.index() == explained.index());
  if (const auto* refusal = std::get_if<semel::KeyRefusal>(&first)) {
    SEMEL_CHECK(!refusal->detail.empty());
    return;
  }
  const auto& derived = std::get<semel::DerivedKey>(first);
  const auto& explanation = std::get<semel::KeyExplanation>(explained);
  SEMEL_CHECK(derived.key == std::get<semel::DerivedKey>(second).key);
  SEMEL_CHECK(derived.key == explanation.derived.key);
  SEMEL_CHECK(derived.bindings == explanation.derived.bindings);
  SEMEL_CHECK(!explanation.canonical_hex.empty());
}

void derive(const semel::Route& route, std::string_view body, std::string_view query,
            std::vector<semel::HeaderField> headers) {
  semel::NormalPath path;
  path.segments = {"tools", "book"};
  semel::RouteMatch match;
  match.route = &route;
  semel::KeyInputs inputs;
  inputs.method = "POST";
  inputs.path = &path;
  inputs.match = &match;
  inputs.query = query;
  inputs.headers = headers;
  inputs.body = body;
  check_answers(inputs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using From = semel::ValueSource::From;
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const semel::Route whole = booking();
  semel::Route named = booking();
  named.key.fields = {{From::Body, "/flight", false}};
  named.key.guards = {{From::Query, "a", false}, {From::Body, "/amount", false}};
  semel::Route client = booking();
  client.key.client_key = semel::ClientKey::Required;

  derive(whole, input, "", {{"Content-Type", "application/json"}});
  derive(whole, "", input, {{"If-Match", input}});
  derive(whole, input, "", {{"Content-Type", input}});
  derive(named, input, "", {{"Content-Type", "application/json"}});
  derive(named, input, input, {{"Content-Type", "application/x-www-form-urlencoded"}});
  derive(client, "", "", {{"Idempotency-Key", input}});
  derive(client, input, "",
         {{"Idempotency-Key", "k"}, {"Content-Type", "multipart/mixed; boundary=x"}});
  return 0;
}
