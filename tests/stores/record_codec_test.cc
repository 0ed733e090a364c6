#include "stores/record_codec.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace semel {
namespace {

using namespace std::chrono_literals;

Record full_record() {
  Record record;
  record.state = Record::State::Indeterminate;
  record.forgotten = true;
  record.token.bytes.fill(0x11);
  record.fence.value = 0x0102030405060708;
  record.reference.bytes.fill(0x22);
  ClaimTerms terms;
  terms.policy = Policy::Idempotent;
  terms.caller.bytes.fill(0x33);
  terms.tenant = "acme";
  terms.route = "book";
  terms.retention = 9s;
  terms.indeterminate_retention = 10s;
  record.terms = std::make_shared<const ClaimTerms>(std::move(terms));
  Record::Extras extras;
  extras.guards.bytes.fill(0x44);
  extras.fingerprint.bytes.fill(0x55);
  extras.freed_before = FreedAttempt{};
  extras.freed_before->token.bytes.fill(0x66);
  extras.freed_before->fence.value = 13;
  record.extras = std::make_unique<Record::Extras>(extras);
  record.lease_end = 7ns;
  record.changed_at = 8ns;
  record.created = std::chrono::system_clock::time_point(11ns);
  record.changed = std::chrono::system_clock::time_point(12ns);
  record.reason = IndeterminateReason::UpstreamStatus;
  record.upstream_status = 503;
  return record;
}

IdempotencyKey some_key() {
  IdempotencyKey key;
  key.bytes.fill(0xAB);
  return key;
}

/// The example of docs/record-format.md, byte by byte and not by the encoder.
std::string published_record() {
  std::string bytes{"\x01\x01", 2};
  bytes += std::string(32, '\xAB');
  bytes += std::string("\x02\x02\x01", 3);
  bytes += std::string(16, '\x11');
  bytes += std::string("\x08\x07\x06\x05\x04\x03\x02\x01", 8);
  bytes += std::string(16, '\x22') + std::string(32, '\x33') + std::string(32, '\x44') +
           std::string(32, '\x55');
  bytes += std::string("\x04\0\0\0acme\x04\0\0\0book", 16);
  bytes += std::string("\x07\0\0\0\0\0\0\0", 8) + std::string("\x08\0\0\0\0\0\0\0", 8);
  bytes += std::string("\x09\0\0\0\0\0\0\0", 8);
  bytes += std::string("\x01\x0A\0\0\0\0\0\0\0", 9);
  bytes += std::string("\x0B\0\0\0\0\0\0\0", 8) + std::string("\x0C\0\0\0\0\0\0\0", 8);
  bytes += std::string("\x03\x01\xF7\x01", 4);
  bytes += '\x01' + std::string(16, '\x66') + std::string("\x0D\0\0\0\0\0\0\0", 8);
  return bytes;
}

/// A second CRC-32, bit by bit as the standard words it, to check the table-driven one.
std::uint32_t plain_crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xEDB88320u : crc >> 1;
  }
  return ~crc;
}

std::string sealed(std::string bytes) {
  const std::uint32_t crc = plain_crc32(bytes);
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>((crc >> (8 * i)) & 0xFF));
  return bytes;
}

TEST(Crc32, TheCheckValueOfTheCatalogue) { EXPECT_EQ(crc32("123456789"), 0xCBF43926u); }

TEST(Crc32, EveryLengthAgreesWithTheBitwiseDefinition) {
  std::string bytes;
  for (int n = 0; n < 70; ++n) {
    EXPECT_EQ(crc32(bytes), plain_crc32(bytes)) << n;
    bytes.push_back(static_cast<char>(n * 37));
  }
}

TEST(RecordCodec, TheBytesAreThePublishedOnes) {
  EXPECT_EQ(encode_record(some_key(), full_record()), sealed(published_record()));
  std::string erased{"\x01\x02", 2};
  erased += std::string(32, '\xAB');
  EXPECT_EQ(encode_erased(some_key()), sealed(erased));
}

TEST(RecordCodec, EveryMemberComesBack) {
  const auto entry = decode_entry(sealed(published_record()));
  ASSERT_TRUE(entry.has_value());
  const auto& [key, record] = std::get<RecordEntry>(*entry);
  const Record expected = full_record();
  EXPECT_EQ(key, some_key());
  EXPECT_EQ(record.state, expected.state);
  EXPECT_EQ(*record.terms, *expected.terms);
  EXPECT_EQ(record.forgotten, expected.forgotten);
  EXPECT_EQ(record.token, expected.token);
  EXPECT_EQ(record.fence, expected.fence);
  EXPECT_EQ(record.reference, expected.reference);
  EXPECT_EQ(record.bindings(), expected.bindings());
  EXPECT_EQ(record.lease_end, expected.lease_end);
  EXPECT_EQ(record.changed_at, expected.changed_at);
  EXPECT_EQ(record.created, expected.created);
  EXPECT_EQ(record.changed, expected.changed);
  EXPECT_EQ(record.reason, expected.reason);
  EXPECT_EQ(record.upstream_status, expected.upstream_status);
  EXPECT_EQ(record.freed_before(), expected.freed_before());
}

TEST(RecordCodec, AnyFlippedBitIsNoticed) {
  const std::string bytes = sealed(published_record());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(decode_entry(damaged).has_value()) << "bit " << bit;
  }
}

TEST(RecordCodec, AnyOtherLengthIsNoticedEvenWithAGoodChecksum) {
  const std::string bytes = published_record();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_entry(sealed(bytes.substr(0, size))).has_value()) << size;
  }
  EXPECT_FALSE(decode_entry(sealed(bytes + '\0')).has_value());
}

struct BadByte {
  const char* name;
  std::size_t at;
  char byte;
};

TEST(RecordCodec, AnUnknownWordIsNeverReadAsAKnownOne) {
  const BadByte kRows[] = {
      {"version 2", 0, 2},          {"kind 0", 1, 0},
      {"kind of a response", 1, 3}, {"state Corrupt", 34, 4},
      {"policy 4", 35, 4},          {"a flag of 2", 36, 2},
      {"reason 7", 238, 7},         {"a status flag of 2", 239, 2},
  };
  for (const auto& row : kRows) {
    std::string bytes = published_record();
    ASSERT_LT(row.at, bytes.size());
    bytes[row.at] = row.byte;
    const auto entry = decode_entry(sealed(bytes));
    ASSERT_FALSE(entry.has_value()) << row.name;
    EXPECT_EQ(entry.error(), Fault::RecordCorrupt) << row.name;
  }
}

TEST(ResponseCodec, TheBytesAreThePublishedOnes) {
  StoredResponse response;
  response.status = 201;
  response.unframed = true;
  response.fields = {{"A", "1"}, {"A", ""}};
  response.body = std::string("x\0y", 3);
  std::string bytes{"\x01\x03\xC9\0\0\x01", 6};
  bytes += std::string("\x02\0\0\0", 4);
  bytes += std::string(
      "\x01\0\0\0A\x01\0\0\0"
      "1",
      10);
  bytes += std::string("\x01\0\0\0A\0\0\0\0", 9);
  bytes += std::string("\x03\0\0\0x\0y", 7);
  EXPECT_EQ(encode_response(response), sealed(bytes));
  const auto decoded = decode_response(sealed(bytes));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(**decoded, response);
}

TEST(ResponseCodec, ACountThatLiesIsRefusedBeforeItCostsMemory) {
  const std::string bytes{"\x01\x03\xC8\0\0\0\xFF\xFF\xFF\xFF\0\0\0\0", 14};
  EXPECT_FALSE(decode_response(sealed(bytes)).has_value());
}

}  // namespace
}  // namespace semel
