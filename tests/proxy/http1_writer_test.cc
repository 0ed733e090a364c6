#include "proxy/http1_writer.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace semel::proxy {
namespace {

TEST(HeadWriter, WritesLinesAsRfc9112HasThem) {
  std::string out;
  HeadWriter writer(out);
  writer.request_line("POST", "/tools/book", "dry=1");
  writer.field("Host", "tool:9000");
  writer.field("Content-Length", 18446744073709551615U);
  writer.field("X-Empty", "");
  writer.end();
  EXPECT_EQ(out,
            "POST /tools/book?dry=1 HTTP/1.1\r\n"
            "Host: tool:9000\r\n"
            "Content-Length: 18446744073709551615\r\n"
            "X-Empty: \r\n"
            "\r\n");
}

TEST(HeadWriter, AnEmptyQueryKeepsItsQuestionMark) {
  std::string without, with;
  HeadWriter(without).request_line("GET", "/", std::nullopt);
  HeadWriter(with).request_line("GET", "/", "");
  EXPECT_EQ(without, "GET / HTTP/1.1\r\n");
  EXPECT_EQ(with, "GET /? HTTP/1.1\r\n");
}

TEST(HeadWriter, TheUpstreamsReasonIsKeptAndAMissingOneIsTheStandards) {
  std::string out;
  HeadWriter writer(out);
  writer.status_line(201, "Booked");
  writer.status_line(422);
  writer.status_line(599);
  EXPECT_EQ(out,
            "HTTP/1.1 201 Booked\r\n"
            "HTTP/1.1 422 Unprocessable Content\r\n"
            "HTTP/1.1 599 Unknown\r\n");
}

TEST(HeadWriter, AppendsToWhatIsThere) {
  std::string out = "before\r\n";
  HeadWriter(out).end();
  EXPECT_EQ(out, "before\r\n\r\n");
}

TEST(HeadWriterDeathTest, NoLineBreaksOutOfAValueANameAReasonOrATarget) {
  using namespace std::string_view_literals;
  for (const std::string_view bad : {"a\r\nB: c"sv, "a\n"sv, "a\r"sv, "a\0b"sv, "a\x7F"sv}) {
    std::string out;
    HeadWriter writer(out);
    EXPECT_DEATH(writer.field("Name", bad), "");
    EXPECT_DEATH(writer.foreign_field(bad, "value"), "");
    EXPECT_DEATH(writer.status_line(200, bad), "");
    EXPECT_DEATH(writer.request_line("GET", bad, std::nullopt), "");
    EXPECT_DEATH(writer.request_line("GET", "/", bad), "");
    EXPECT_DEATH(writer.request_line(bad, "/", std::nullopt), "");
  }
}

TEST(HeadWriterDeathTest, ATargetHasNoSpaceAndANameIsAToken) {
  std::string out;
  HeadWriter writer(out);
  EXPECT_DEATH(writer.request_line("GET", "/a b", std::nullopt), "");
  EXPECT_DEATH(writer.request_line("GET", "/", "a b"), "");
  EXPECT_DEATH(writer.foreign_field("X Y", "value"), "");
  EXPECT_DEATH(writer.foreign_field("X:", "value"), "");
  EXPECT_DEATH(writer.foreign_field("", "value"), "");
}

TEST(ChunkSize, IsHexadecimalWithoutLeadingZeros) {
  std::string out;
  append_chunk_size(out, 26);
  append_chunk_size(out, 4096);
  EXPECT_EQ(out, "1a\r\n1000\r\n");
}

TEST(HttpDate, IsTheCurrentSecondInTheFormOfRfc9110) {
  const std::time_t before = std::time(nullptr);
  const std::string date(http_date());
  const std::time_t after = std::time(nullptr);
  std::tm parts{};
  const char* end = strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  ASSERT_NE(end, nullptr) << date;
  EXPECT_EQ(*end, '\0') << date;
  EXPECT_EQ(date.size(), std::string("Sun, 06 Nov 1994 08:49:37 GMT").size());
  const std::time_t read = timegm(&parts);
  EXPECT_GE(read, before);
  EXPECT_LE(read, after);
}

}  // namespace
}  // namespace semel::proxy
