#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "core/value_tape.h"

namespace semel {

inline constexpr int kJsonDepthMax = 64;

/// Why a body is refused: what stands there, and at which byte of the body.
struct TextFault {
  std::string_view what;  ///< Completes "The body has ...": `a duplicate member name`.
  std::size_t offset = 0;
};

/// Reads one JSON text whole and strictly, onto the tape.
///
/// Refuses everything on which two readers of the same bytes could disagree: duplicate member names
/// (as written, unescaped or after NFC), lone surrogates, invalid UTF-8, a byte order mark,
/// trailing bytes, numbers outside the bounds of decimal.h and nesting beyond `kJsonDepthMax`.
/// @return Nothing on success; the tape then points into `text`. After a fault the tape is
/// unusable.
/// @source RFC 8259; spec 5.
[[nodiscard]] std::optional<TextFault> read_json(std::string_view text, ValueTape& tape);

}  // namespace semel
