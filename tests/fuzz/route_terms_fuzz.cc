// Any bytes at all: terms that decode have to encode to the same bytes again, and comparing with
// them must not fail. The digest is made good, so that it does not keep the fuzzer out.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/check.h"
#include "core/route_change.h"
#include "core/route_pattern.h"
#include "core/route_terms.h"

namespace {

semel::Route today() {
  semel::Route route;
  route.name = "book";
  route.methods = {"POST"};
  route.pattern = "/tools/{id}/*";
  route.segments =
      std::get<std::vector<semel::PatternSegment>>(semel::parse_pattern(route.pattern));
  route.policy = semel::Policy::Idempotent;
  return route;
}

void check(const std::string& bytes) {
  static const std::vector<semel::Route> kToday = {today()};
  const auto terms = semel::decode_terms(bytes);
  if (!terms) return;
  SEMEL_CHECK(semel::encode_terms(*terms) == bytes);
  for (const semel::RouteChange& change : semel::weakened(*terms, kToday)) {
    SEMEL_CHECK(!change.sentence.empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(bytes), size);
  check(input);
  const semel::Sha256Bytes digest = semel::sha256(input);
  constexpr std::array<char, 5> kOneRoute = {1, 1, 0, 0, 0};
  std::string whole(kOneRoute.begin(), kOneRoute.end());
  whole.append(digest.begin(), digest.end());
  whole.append(input);
  whole.append(13, '\0');  // The windows, and no earlier version.
  check(whole);
  return 0;
}
