#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/canonical_encoding.h"
#include "core/json_pointer.h"
#include "core/key.h"
#include "core/request_body.h"
#include "core/value_tape.h"

namespace semel {

/// The request as the value sources see it: its head, and its body read.
struct RequestView {
  const KeyInputs& inputs;
  const RequestBody& body;
  const ValueTape& tape;
};

struct AbsentValue {};
/// What one value source found. A view points into the request, `Named` into the tape, and a list
/// holds a source that came more than once, in its order.
using SourceValue =
    std::variant<AbsentValue, std::string_view, std::string, std::vector<std::string>, Named>;

/// What a source is to the key: decides how strictly it is read.
enum class SourceRole : std::uint8_t {
  Tenant,
  Run,
  Field,
  Caller,
  Guard,  ///< The only one that may be absent or empty: both are values.
};

/// Reads one source.
/// @param value  Gets what was found.
/// @return Nothing on success; KeyUnderivable where it is absent or empty and may not be,
///         BodyAmbiguous where a case twin stands beside it, BadRequest where an identity comes
///         more than once.
[[nodiscard]] std::optional<KeyRefusal> read_source(const RequestView& request,
                                                    const ValueSource& source, SourceRole role,
                                                    SourceValue& value);

/// The source's name in the encoding: `body:/flight`, `header:x-run-id`. Header names in lower
/// case.
[[nodiscard]] std::string encoded_name(const ValueSource& source);
/// The same in place of what `name` held, in its memory.
void assign_encoded_name(const ValueSource& source, std::string& name);
/// The source's name for people: `body /flight`, `header X-Run-Id`.
[[nodiscard]] std::string spoken_name(const ValueSource& source);

void encode_source_value(const SourceValue& value, const ValueTape& tape, CanonicalWriter& writer);

/// Canonical JSON of a value from a body, hexadecimal digits of any other; `absent` where there is
/// none.
[[nodiscard]] std::string spoken_value(const SourceValue& value, const ValueTape& tape);

/// The value as one string of bytes: itself, a text's characters, a number's canonical spelling.
/// Nothing for lists, objects, words and the absent.
[[nodiscard]] std::optional<std::string> plain_text(const SourceValue& value,
                                                    const ValueTape& tape);

}  // namespace semel
