#include "stores/log_note.h"

#include <gtest/gtest.h>

namespace semel {
namespace {

constexpr LogNote kNote{0x1122334455667788, 0x99AABBCCDDEEFF00, {2, 3}};
constexpr RowTally kTally{4, 5};
constexpr StoreTime kStore{6};

/// As docs/record-format.md has it, with Python's struct and zlib.
const std::string kBytes(
    "\x88\x77\x66\x55\x44\x33\x22\x11\x00\xFF\xEE\xDD\xCC\xBB\xAA\x99"
    "\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"
    "\x87\xAA\xE4\x72",
    36);

TEST(LogNote, HasTheBytesOfTheFormat) { EXPECT_EQ(encode_log_note(kNote, kTally, kStore), kBytes); }

TEST(LogNote, IsReadWithTheTallyAndTheTimeOfItsRowOnly) {
  EXPECT_EQ(decode_log_note(kBytes, kTally, kStore), kNote);
  EXPECT_EQ(decode_log_note(kBytes, {4, 6}, kStore), std::nullopt);
  EXPECT_EQ(decode_log_note(kBytes, {5, 5}, kStore), std::nullopt);
  EXPECT_EQ(decode_log_note(kBytes, kTally, StoreTime(7)), std::nullopt);
  EXPECT_EQ(decode_log_note("", kTally, kStore), std::nullopt);
  EXPECT_EQ(decode_log_note(kBytes + '\0', kTally, kStore), std::nullopt);
  for (std::size_t i = 0; i < kBytes.size(); ++i) {
    std::string changed = kBytes;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(decode_log_note(changed, kTally, kStore), std::nullopt) << i;
  }
}

TEST(LogNote, TellsTheLogThatWasBegunOnTheFile) {
  // The file stands at the end of log 7, with 10 rows.
  const NotedState file{{7, 6, {9, 90}}, {10, 100}};
  struct Row {
    const char* name;
    NotedState with_log;
    bool is_own;
  };
  const Row rows[] = {
      {"nothing in the log", file, true},
      {"begun on the file", {{8, 7, {10, 100}}, {12, 120}}, true},
      {"partly or wholly in the file already", {{7, 6, {9, 90}}, {12, 120}}, true},
      {"begun on an older state", {{8, 6, {9, 90}}, {12, 120}}, false},
      {"begun on a younger state", {{9, 8, {12, 120}}, {13, 130}}, false},
      {"begun on the same log, at another end", {{8, 7, {11, 110}}, {12, 120}}, false},
      {"begun on other rows", {{8, 7, {10, 101}}, {12, 120}}, false},
      {"begun on an older state, with the same rows now", {{5, 6, {9, 90}}, {10, 100}}, false},
      {"of another store", {{20, 0, {0, 0}}, {10, 100}}, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(is_log_of(file, row.with_log), row.is_own) << row.name;
  }
}

}  // namespace
}  // namespace semel
