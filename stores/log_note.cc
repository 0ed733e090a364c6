#include "stores/log_note.h"

#include <array>

#include "stores/record_codec.h"

namespace semel {
namespace {

constexpr std::size_t kNumbers = 4;
constexpr std::size_t kBytes = kNumbers * 8 + 4;

void put(std::string& bytes, std::uint64_t value, int size = 8) {
  for (int i = 0; i < size; ++i) bytes.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

}  // namespace

std::string encode_log_note(const LogNote& note, const RowTally& tally, StoreTime store) {
  std::string bytes;
  for (const std::uint64_t value :
       {note.log_id, note.previous_id, note.base.rows, note.base.hash}) {
    put(bytes, value);
  }
  std::string covered = bytes;
  put(covered, tally.rows);
  put(covered, tally.hash);
  put(covered, static_cast<std::uint64_t>(store.count()));
  put(bytes, crc32(covered), 4);
  return bytes;
}

std::optional<LogNote> decode_log_note(std::string_view bytes, const RowTally& tally,
                                       StoreTime store) {
  if (bytes.size() != kBytes) return std::nullopt;
  std::array<std::uint64_t, kNumbers> numbers{};
  for (std::size_t i = 0; i < kNumbers * 8; ++i) {
    numbers[i / 8] |= std::uint64_t{static_cast<std::uint8_t>(bytes[i])} << (8 * (i % 8));
  }
  const LogNote note{numbers[0], numbers[1], {numbers[2], numbers[3]}};
  if (encode_log_note(note, tally, store) != bytes) return std::nullopt;
  return note;
}

bool is_log_of(const NotedState& file, const NotedState& with_log) {
  // Some of the log may be in the file already, by a checkpoint that ended or did not.
  if (file.note.log_id == with_log.note.log_id) return true;
  return file.note.log_id == with_log.note.previous_id && file.tally == with_log.note.base;
}

}  // namespace semel
