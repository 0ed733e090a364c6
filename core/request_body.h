#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/key.h"
#include "core/value_tape.h"

namespace semel {

/// How a body takes part in a key.
enum class BodyShape : std::uint8_t {
  Absent,  ///< No byte.
  Values,  ///< JSON or a form: on the tape.
  Bytes,   ///< Any other type: the bytes as they came.
  Pieces,  ///< Multipart under a client's key: what lies between its delimiters.
};

struct RequestBody {
  BodyShape shape = BodyShape::Absent;
  std::string_view bytes;
  std::vector<std::string_view> pieces;
};

/// What a recipe wants of the body. An enum could not say it: they combine.
struct BodyDemand {
  bool pointer_named = false;  ///< A source points into it.
  bool whole_counts = false;   ///< All of it is an argument or a fingerprint.
  bool client_key = false;     ///< A client's key is honoured.
};

/// A body as it came, and what its request says of it.
struct ReceivedBody {
  std::string_view bytes;
  std::string_view content_type;  ///< Empty where there is none.
  bool is_encoded = false;        ///< A Content-Encoding other than identity.
};

/// Reads the body as its Content-Type says, strictly.
/// @param tape  Gets the values of JSON and forms; points into the body.
/// @param body  Gets the answer.
/// @return Nothing on success; ContentType or BodyAmbiguous where spec 5 refuses.
[[nodiscard]] std::optional<KeyRefusal> read_body(const ReceivedBody& received, BodyDemand demand,
                                                  ValueTape& tape, RequestBody& body);

}  // namespace semel
