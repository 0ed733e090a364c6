#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace semel::fuzz {

/// One call on a route `book` whose tenant and run are header values and that binds nothing else.
struct KeyedCall {
  /// What Content-Type says of the body: any other type counts as its bytes.
  enum class BodyType : std::uint8_t { Json, Bytes };

  std::string tenant = "acme";
  std::optional<std::string> run = "run-7";  ///< Absent: `run: none`.
  std::string method = "POST";
  std::vector<std::string> segments{"tools", "book"};  ///< Of the path, percent-decoded.
  std::optional<std::string> query;                    ///< After the `?`.
  std::string body;
  BodyType body_type = BodyType::Json;
  std::vector<std::string> pointers;  ///< Named fields of the body; empty: the whole request.
};

/// The key of the call by docs/key-format.md, in lower-case hexadecimal, or the slug of the problem
/// with which that page refuses it. Written from the page alone, with the reader of
/// json_reference.h.
[[nodiscard]] std::string reference_key(const KeyedCall& call);

}  // namespace semel::fuzz
