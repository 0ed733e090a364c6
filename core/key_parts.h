#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/key.h"
#include "core/request_body.h"
#include "core/source_value.h"
#include "core/value_tape.h"

namespace semel {

/// One named source and what it found.
struct NamedValue {
  std::string name;  ///< As encoded; lists of these are sorted by it.
  const ValueSource* source = nullptr;
  SourceValue value;
};

/// Everything that enters a key or its bindings, read and checked, before it is encoded.
/// @owns Views into the request and the tape; valid as long as both.
struct KeyParts {
  KeySource kind = KeySource::Derived;
  SourceValue tenant;
  std::string tenant_text;
  SourceValue run;     ///< Absent under `none` and under a client's key.
  SourceValue caller;  ///< Absent where the recipe binds none.
  std::vector<NamedValue> fields;
  std::vector<NamedValue> guards;
  RequestBody body;
  std::optional<std::string> query;  ///< Escapes in one spelling. Read only where it counts.
  /// `If-*` and `Range` by lower-case name, values in order; only where the whole request counts.
  std::map<std::string, std::vector<std::string_view>> conditions;
  std::string client_key;  ///< Without quotes; also kept for the echo where it is not honoured.

  /// Forgets the request that they were of, and keeps memory for the next one.
  void restart();
};

/// Reads every source that the route's recipe names, in the order: repeated lines, client key,
/// body, tenant, run, fields, guards, caller.
/// @param tape   Gets the body's values.
/// @param parts  Get everything else, in place of what they held.
/// @return       Nothing on success.
[[nodiscard]] std::optional<KeyRefusal> gather(const KeyInputs& inputs, ValueTape& tape,
                                               KeyParts& parts);

}  // namespace semel
