#pragma once

#include <string>

#include "core/canonical_encoding.h"
#include "core/value_tape.h"

namespace semel {

/// Writes one value of a tape in canonical form: members sorted by code point after NFC, arrays in
/// order, texts in NFC, numbers as exact decimals. White space, escapes, member order and the
/// spelling of numbers are gone; nothing else is.
/// @source docs/key-format.md, "Values".
void encode_value(const ValueTape& tape, NodeIndex index, CanonicalWriter& writer);

/// The same value as JSON text for people: canonical order and spelling, no white space.
[[nodiscard]] std::string canonical_text(const ValueTape& tape, NodeIndex index);

}  // namespace semel
