#pragma once

#include <optional>
#include <string>
#include <vector>

namespace semel::fuzz {

/// One call of the tenant `acme`, run `run-7`, on a route `book` with POST /tools/book and a JSON
/// body: as much of a request as the spelling of a document can change.
struct KeyedCall {
  std::string body;
  std::optional<std::string> query;   ///< After the `?`.
  std::vector<std::string> pointers;  ///< Named fields of the body; empty: the whole request.
};

/// The key of the call by docs/key-format.md, in lower-case hexadecimal, or the slug of the problem
/// with which that page refuses it. Written from the page alone, with the reader of
/// json_reference.h.
[[nodiscard]] std::string reference_key(const KeyedCall& call);

}  // namespace semel::fuzz
