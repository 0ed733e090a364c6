#pragma once

#include <string>

#include "core/digest.h"
#include "core/key.h"
#include "core/key_parts.h"
#include "core/value_tape.h"

namespace semel {

/// Hashes the parts: the key, and the digests that a record is bound to beside it (all zero where
/// the recipe has none).
/// @param parts       Give away the tenant's text and the client's key.
/// @param hasher      As new, and as new again afterwards.
/// @param transcript  Gets the bytes that the key is the hash of; null: none.
/// @source docs/key-format.md, "The key" and "Bindings".
[[nodiscard]] DerivedKey digest_key(const KeyInputs& inputs, KeyParts& parts, const ValueTape& tape,
                                    Sha256& hasher, std::string* transcript);

}  // namespace semel
