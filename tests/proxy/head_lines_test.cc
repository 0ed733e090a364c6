#include "proxy/head_lines.h"

#include <gtest/gtest.h>

#include <string>

namespace semel::proxy {
namespace {

// Sixteen bytes are looked at in a step: a byte must be judged alike at every place of a step, and
// behind the last whole one.
constexpr std::size_t kPlaces = 40;

TEST(HeadLines, Rfc9110Section5_5AControlCharacterIsFoundWhereverItStands) {
  for (const char* filler : {" ", "\xFF", "a"}) {
    for (std::size_t at = 0; at < kPlaces; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        if (byte == '\r') continue;  // ends the line or is bare: EveryCrNeedsItsLf
        std::string value = "x";
        for (std::size_t i = 0; i < kPlaces; ++i) value += filler;
        value += "x";
        value[1 + at] = static_cast<char>(byte);
        const std::string line = "N: " + value + "\r\n";
        HeaderField field;
        std::size_t end = 0;
        LineEnd expected = LineEnd::Field;
        if (byte < 0x20 || byte == 0x7F) expected = LineEnd::BadValue;
        if (byte == '\t') expected = LineEnd::Field;
        if (byte == '\n') expected = LineEnd::BareLineEnd;
        ASSERT_EQ(read_field_line(line, end, field), expected) << at << ", byte " << byte;
        if (expected == LineEnd::Field) {
          ASSERT_EQ(field.value, value);
          ASSERT_EQ(end, line.size());
        }
      }
    }
  }
}

TEST(HeadLines, Rfc9110Section5_6_2ABadNameIsFoundWhereverItStands) {
  const std::string_view token =
      "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (std::size_t at = 0; at < kPlaces; ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string name(kPlaces, 'a');
      name[at] = static_cast<char>(byte);
      HeaderField field;
      std::size_t end = 0;
      const LineEnd got = read_field_line(name + ": v\r\n", end, field);
      if (token.find(static_cast<char>(byte)) != std::string_view::npos) {
        ASSERT_EQ(got, LineEnd::Field) << at << ", byte " << byte;
      } else if (byte != ':' || at == 0) {  // a colon ends a name, but no empty one
        ASSERT_NE(got, LineEnd::Field) << at << ", byte " << byte;
      }
    }
  }
}

TEST(HeadLines, Rfc9112Section2_2EveryCrNeedsItsLf) {
  HeaderField field;
  std::size_t at = 0;
  EXPECT_EQ(read_field_line("A: b\rc\r\n", at, field), LineEnd::BareLineEnd);
  EXPECT_EQ(read_field_line("A: b\r", at, field), LineEnd::Incomplete);
  EXPECT_EQ(read_field_line("\r", at, field), LineEnd::Incomplete);
  EXPECT_EQ(read_field_line("\rA: b\r\n", at, field), LineEnd::BareLineEnd);
  EXPECT_EQ(read_field_line("\n", at, field), LineEnd::BareLineEnd);
  EXPECT_EQ(at, 0u) << "only a whole line moves the place";
  EXPECT_EQ(read_field_line("\r\n", at, field), LineEnd::EndOfHead);
  EXPECT_EQ(at, 2u);
}

TEST(HeadLines, NamesMatchWithoutCaseAndTwinsAreTold) {
  const auto match = [](std::string_view a, std::string_view b) { return match_names(a, b); };
  EXPECT_EQ(match("Host", "hOST"), NameMatch::Same);
  EXPECT_EQ(match("Idempotency-Key", "idempotency-key"), NameMatch::Same);
  EXPECT_EQ(match("X-A-Name-Of-Sixteen", "x-a-name-of-sixteen"), NameMatch::Same);
  EXPECT_EQ(match("Idempotency_Key", "idempotency-key"), NameMatch::Twin);
  EXPECT_EQ(match("X_Tenant", "X-Tenant"), NameMatch::Twin);
  EXPECT_EQ(match("_a", "-A"), NameMatch::Twin);
  EXPECT_EQ(match("X-Tenant", "X-Tenanu"), NameMatch::Different);
  EXPECT_EQ(match("X-Tenant-Name-1", "X-Tenant-Name-2"), NameMatch::Different);
  EXPECT_EQ(match("X-Tenant", "X-Tenants"), NameMatch::Different);
  EXPECT_EQ(match("X_Tenanu", "X-Tenant"), NameMatch::Different);
}

TEST(HeadLines, ConnectionWordsOfEveryShape) {
  ConnectionWords words;
  std::string others;
  const auto note = [&others](std::string_view name) {
    others += std::string(name) + ";";
    return true;
  };
  EXPECT_TRUE(add_connection_words(" , Keep-Alive ,,\tTE\t, closed", words, note));
  EXPECT_TRUE(words.keep_alive && words.others);
  EXPECT_FALSE(words.close || words.upgrade);
  EXPECT_EQ(others, "TE;closed;");
  EXPECT_TRUE(add_connection_words("", words, note));
  EXPECT_TRUE(add_connection_words("UPGRADE,close", words, note));
  EXPECT_TRUE(words.close && words.upgrade);
  EXPECT_FALSE(add_connection_words("a b", words, note));
  EXPECT_FALSE(add_connection_words("a, \"b\"", words, note));
}

}  // namespace
}  // namespace semel::proxy
