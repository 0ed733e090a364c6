#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace semel::testing {

/// What a request means, where it is legal: as a reader of RFC 9112 without any leniency has it.
struct Meaning {
  std::string method;
  std::string target;  ///< Its path in the normal form, its query as it came.
  std::string body;
};

/// Bytes that a client sends on a connection of its own before it ends its direction.
struct SmugglingCase {
  std::string name;
  std::string raw;
  std::string tenant;              ///< Of the request that stands first; no other case has it.
  std::optional<Meaning> meaning;  ///< Absent: nothing is asked but that all parties agree.
};

/// Legal requests in every framing, with bodies that look like requests.
[[nodiscard]] std::vector<SmugglingCase> framed_cases();
/// One header line, target or end of line that some parsers take otherwise than others.
[[nodiscard]] std::vector<SmugglingCase> odd_cases();
/// The rows of tests/proxy/corpus/http_requests.jsonl.
[[nodiscard]] std::vector<SmugglingCase> corpus_cases();
/// The requests of llhttp's own tests, each made whole with a Host; empty where they are not here.
[[nodiscard]] std::vector<SmugglingCase> llhttp_cases();
/// Cases of the first three kinds with one or two bytes or tokens changed.
[[nodiscard]] std::vector<SmugglingCase> mutated_cases(const std::vector<SmugglingCase>& from,
                                                       std::uint32_t seed, int count);

}  // namespace semel::testing
