#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/result.h"
#include "stores/record.h"

namespace semel {

/// A line of the log: from here on, this record stands under this key.
struct RecordEntry {
  IdempotencyKey key;
  Record record;  ///< Without `answer` and `row`, which lie beside it.
};
/// A line of the log: from here on, nothing stands under this key.
struct ErasedEntry {
  IdempotencyKey key;
};
using LogEntry = std::variant<RecordEntry, ErasedEntry>;

/// Versioned, length-prefixed, closed by a CRC-32. @source docs/record-format.md.
[[nodiscard]] std::string encode_record(const IdempotencyKey& key, const Record& record);
[[nodiscard]] std::string encode_erased(const IdempotencyKey& key);
[[nodiscard]] std::string encode_response(const AnswerView& answer);
[[nodiscard]] std::string encode_response(const StoredResponse& response);

/// Takes any bytes at all.
/// @faults RecordCorrupt: another version, an unknown word, a wrong length or checksum, bytes left
/// over.
[[nodiscard]] Result<LogEntry> decode_entry(std::string_view bytes);
[[nodiscard]] Result<StoredResponsePtr> decode_response(std::string_view bytes);

/// CRC-32 as zlib, gzip and Ethernet have it: polynomial 0xEDB88320, reflected.
[[nodiscard]] std::uint32_t crc32(std::string_view bytes);

}  // namespace semel
