#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace semel {

/// One stored header line, in the upstream's own case.
struct StoredField {
  std::string name;
  std::string value;
  bool operator==(const StoredField&) const = default;
};

/// Whether the answer's bytes are kept with its record.
enum class BodyKept : std::uint8_t { Kept, NotKept };

/// What a replay sends: status, header lines in order with repeats kept, body bytes as received.
/// Immutable once built; shared between the store, a flight's followers and replays.
struct StoredResponse {
  std::uint16_t status = 0;
  BodyKept kept = BodyKept::Kept;
  bool unframed = false;  ///< The upstream ended it with a clean close, not with a length.
  std::vector<StoredField> fields;
  std::string body;  ///< Empty where `kept` is NotKept.
  bool operator==(const StoredResponse&) const = default;
};

using StoredResponsePtr = std::shared_ptr<const StoredResponse>;

}  // namespace semel
