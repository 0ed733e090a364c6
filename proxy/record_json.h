#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/claim.h"
#include "stores/record_view.h"

namespace semel::proxy {

/// The state's word in queries and answers: `in_flight`, `completed`, `indeterminate`.
[[nodiscard]] std::string_view name(RecordView::State state);
[[nodiscard]] std::optional<RecordView::State> parse_state(std::string_view word);

/// Reads 32 lower-case hex digits.
[[nodiscard]] std::optional<Reference> parse_reference(std::string_view digits);

/// Appends a record as operators see it, a JSON object (docs/http-surface.md). Eight digits of the
/// key, no token, no digest, and of an answer only its status and size: the answer itself is its
/// caller's.
void append_record(std::string& out, const RecordView& view);

}  // namespace semel::proxy
