#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json_reader.h"
#include "core/value_tape.h"

namespace semel {

/// Decodes one name or value of `application/x-www-form-urlencoded`: `+` is a space, `%XX` a byte.
/// @return False where an escape is broken.
[[nodiscard]] bool append_form_decoded(std::string_view text, std::string& out);

/// The same where `+` is no space: one segment of a path.
[[nodiscard]] bool append_percent_decoded(std::string_view text, std::string& out);

/// Reads a form body as an object of texts; a name that comes more than once is an array in its
/// order.
/// @return Nothing on success. The fault names the byte: invalid UTF-8, a broken escape, or one
/// name
///         in two Unicode spellings.
/// @source WHATWG URL, section 5.1, but strict; spec 5.
[[nodiscard]] std::optional<TextFault> read_form(std::string_view body, ValueTape& tape);

/// All values of one query parameter in order, form-decoded bytes; nothing where an escape is
/// broken.
[[nodiscard]] std::optional<std::vector<std::string>> query_values(std::string_view query,
                                                                   std::string_view name);

/// Appends a query with each escape in its one spelling: unreserved characters decoded, the rest in
/// upper-case hexadecimal (RFC 3986, section 6.2.2).
/// @return False where an escape is broken.
[[nodiscard]] bool append_normal_query(std::string_view query, std::string& out);

}  // namespace semel
