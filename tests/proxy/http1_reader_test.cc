#include "proxy/http1_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace semel::proxy {
namespace {

/// `pass`, `more`, `interim` or `malformed`.
std::string verdict(const ResponseAnswer& answer) {
  if (std::holds_alternative<MalformedResponse>(answer)) return "malformed";
  if (std::holds_alternative<Interim>(answer)) return "interim";
  return std::holds_alternative<NeedMore>(answer) ? "more" : "pass";
}

std::string judge(std::string_view bytes) {
  ResponseHead head;
  return verdict(read_response_head(bytes, 0, "GET", head));
}

ResponseHead read(std::string_view bytes, std::string_view method = "GET") {
  ResponseHead head;
  EXPECT_EQ(verdict(read_response_head(bytes, 0, method, head)), "pass") << bytes;
  return head;
}

/// A 200 with these lines, each with its CRLF.
std::string with_lines(std::string_view lines) {
  return "HTTP/1.1 200 OK\r\n" + std::string(lines) + "\r\n";
}

struct Row {
  const char* name;
  std::string bytes;
  const char* verdict;
};

TEST(ResponseHead, FillsTheHeadWithViewsIntoTheBuffer) {
  const std::string bytes =
      "HTTP/1.1 404 Not \tFound\xFF\r\nA: b\r\nA: c\r\nContent-Length: 2\r\n\r\n{}";
  const ResponseHead head = read(bytes);
  EXPECT_EQ(head.status, 404);
  EXPECT_EQ(head.reason, "Not \tFound\xFF");
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_EQ(head.framing, Framing::Length);
  EXPECT_EQ(head.content_length, 2u);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(head.head_bytes, bytes.size() - 2);
  ASSERT_EQ(head.fields.all().size(), 3u);
  EXPECT_EQ(head.fields.all()[1].value, "c");
}

TEST(ResponseHead, Rfc9112Section4StatusLine) {
  const auto line = [](std::string_view text) { return std::string(text) + "\r\n\r\n"; };
  const Row rows[] = {
      {"no reason", line("HTTP/1.1 200 "), "pass"},
      {"no reason and no space", line("HTTP/1.1 200"), "pass"},
      {"two spaces belong to the reason", line("HTTP/1.1 200  OK"), "pass"},
      {"1.0", line("HTTP/1.0 599 x"), "pass"},
      {"another version", line("HTTP/1.2 200 OK"), "malformed"},
      {"lower case", line("http/1.1 200 OK"), "malformed"},
      {"two digits", line("HTTP/1.1 20 OK"), "malformed"},
      {"four digits", line("HTTP/1.1 2000 OK"), "malformed"},
      {"status 099", line("HTTP/1.1 099 OK"), "malformed"},
      {"status 600", line("HTTP/1.1 600 OK"), "malformed"},
      {"status 999", line("HTTP/1.1 999 OK"), "malformed"},
      {"a tab", line("HTTP/1.1\t200 OK"), "malformed"},
      {"a letter behind", line("HTTP/1.1 200OK"), "malformed"},
      {"a control character", line("HTTP/1.1 200 O\x01K"), "malformed"},
      {"an empty line first", line("\r\nHTTP/1.1 200 OK"), "malformed"},
      {"bare LF", "HTTP/1.1 200 OK\n\n", "malformed"},
      {"bare LF at the end of the buffer", "HTTP/1.1 200 OK\n", "malformed"},
      {"bare CR", "HTTP/1.1 200 OK\rX", "malformed"},
      {"garbage", "SSH-2.0", "malformed"},
      {"cut", "HTTP/1.1 20", "more"},
      {"cut behind the status", "HTTP/1.1 200", "more"},
      {"cut within CRLF", "HTTP/1.1 200 OK\r", "more"},
      {"nothing", "", "more"},
  };
  for (const Row& row : rows) EXPECT_EQ(judge(row.bytes), row.verdict) << row.name;
  EXPECT_EQ(read(line("HTTP/1.1 200")).reason, "");
  EXPECT_EQ(read(line("HTTP/1.1 200 ")).reason, "");
}

TEST(ResponseHead, Rfc9112Section6_3Framing) {
  EXPECT_EQ(read(with_lines("Content-Length: 0\r\n")).framing, Framing::Length);
  EXPECT_EQ(read(with_lines("Transfer-Encoding: Chunked\r\n")).framing, Framing::Chunked);
  const ResponseHead until_close = read(with_lines(""));
  EXPECT_EQ(until_close.framing, Framing::UntilClose);
  EXPECT_FALSE(until_close.keep_alive);
  const Row rows[] = {
      {"two lengths", with_lines("Content-Length: 2\r\nContent-Length: 2\r\n"), "malformed"},
      {"a list", with_lines("Content-Length: 2, 2\r\n"), "malformed"},
      {"no number", with_lines("Content-Length: x\r\n"), "malformed"},
      {"length and coding", with_lines("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n"),
       "malformed"},
      {"another coding", with_lines("Transfer-Encoding: gzip\r\n"), "malformed"},
      {"two codings", with_lines("Transfer-Encoding: gzip, chunked\r\n"), "malformed"},
      {"chunked twice", with_lines("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       "malformed"},
      {"chunked in 1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "malformed"},
  };
  for (const Row& row : rows) EXPECT_EQ(judge(row.bytes), row.verdict) << row.name;
}

TEST(ResponseHead, Rfc9110Section6_4_1SomeAnswersHaveNoBody) {
  const std::string ok = with_lines("Content-Length: 7\r\n");
  const ResponseHead head = read(ok, "HEAD");
  EXPECT_EQ(head.framing, Framing::None);
  EXPECT_EQ(head.content_length, 7u);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(read(with_lines(""), "HEAD").framing, Framing::None);
  EXPECT_TRUE(read(with_lines(""), "HEAD").keep_alive);
  EXPECT_EQ(read(with_lines("Transfer-Encoding: chunked\r\n"), "HEAD").framing, Framing::None);
  EXPECT_EQ(read("HTTP/1.1 304 x\r\nContent-Length: 7\r\n\r\n").framing, Framing::None);
  EXPECT_TRUE(read("HTTP/1.1 304 x\r\nContent-Length: 7\r\n\r\n").keep_alive);
  EXPECT_TRUE(read("HTTP/1.1 204 x\r\n\r\n").keep_alive);
  const ResponseHead with_body = read("HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(with_body.framing, Framing::None);
  EXPECT_FALSE(with_body.keep_alive) << "five bytes may follow that belong to no answer";
}

TEST(ResponseHead, Rfc9110Section15_2InterimAnswersAreReadOver) {
  ResponseHead head;
  const std::string bytes = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
  const ResponseAnswer answer = read_response_head(bytes, 0, "GET", head);
  ASSERT_EQ(verdict(answer), "interim");
  EXPECT_EQ(std::get<Interim>(answer).head_bytes, bytes.find("HTTP/1.1 200"));
  EXPECT_EQ(judge("HTTP/1.1 100\r\n\r\n"), "interim");
  EXPECT_EQ(judge("HTTP/1.1 100 x\r\nX : y\r\n\r\n"), "malformed");
}

TEST(ResponseHead, Rfc9110Section15_2_2SwitchesOnlyWhereAsked) {
  const std::string bytes = "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";
  EXPECT_EQ(judge(bytes), "malformed");
  ResponseHead head;
  ASSERT_EQ(verdict(read_response_head(bytes, 0, "GET", head, UpgradeAsked::Yes)), "pass");
  EXPECT_EQ(head.status, 101);
  EXPECT_EQ(head.framing, Framing::UntilClose);
  EXPECT_FALSE(head.keep_alive);
  const std::string old = "HTTP/1.0 101 x\r\n\r\n";
  EXPECT_EQ(verdict(read_response_head(old, 0, "GET", head, UpgradeAsked::Yes)), "malformed");
}

TEST(ResponseHead, Rfc9112Section9_3Persistence) {
  EXPECT_FALSE(read(with_lines("Connection: close\r\nContent-Length: 0\r\n")).keep_alive);
  EXPECT_FALSE(read("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").keep_alive);
  EXPECT_TRUE(
      read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n").keep_alive);
  EXPECT_TRUE(read(with_lines("Connection: X-Hop\r\nContent-Length: 0\r\n")).names_hop_fields);
}

TEST(ResponseHead, FieldLinesAndLimits) {
  std::string hundred;
  for (int i = 0; i < 100; ++i) hundred += "X: y\r\n";
  const std::size_t room = 32 * 1024 - with_lines("X: \r\n").size();
  const Row rows[] = {
      {"100 fields", with_lines(hundred), "pass"},
      {"101 fields", with_lines(hundred + "X: y\r\n"), "malformed"},
      {"a line as long as the head", with_lines("X: " + std::string(room, 'a') + "\r\n"), "pass"},
      {"32 KiB and one", with_lines("X: " + std::string(room + 1, 'a') + "\r\n"), "malformed"},
      {"endless", "HTTP/1.1 200 OK\r\nX: " + std::string(32 * 1024, 'a'), "malformed"},
      {"obs-fold", with_lines("X: a\r\n b\r\n"), "malformed"},
      {"a split answer", with_lines("X: a\rSet-Cookie: b\r\n"), "malformed"},
      {"NUL", with_lines(std::string_view("X: \0\r\n", 6)), "malformed"},
      {"a bad name", with_lines("X Y: a\r\n"), "malformed"},
      {"underscores and repeats are the tool's own", with_lines("A_B: a\r\nA_B: b\r\n"), "pass"},
  };
  for (const Row& row : rows) EXPECT_EQ(judge(row.bytes), row.verdict) << row.name;
}

TEST(ResponseHead, EverySplitGivesTheSameHead) {
  const std::string bytes = with_lines("A: b\r\nContent-Length: 2\r\n") + "{}";
  const std::size_t head_bytes = bytes.size() - 2;
  ResponseHead head;
  std::size_t scanned = 0;
  for (std::size_t size = 1; size <= head_bytes; ++size) {
    const ResponseAnswer answer =
        read_response_head(std::string_view(bytes).substr(0, size), scanned, "GET", head);
    ASSERT_EQ(verdict(answer), size < head_bytes ? "more" : "pass") << size;
    if (size < head_bytes) scanned = std::get<NeedMore>(answer).scanned;
  }
  EXPECT_EQ(head.fields.all().size(), 2u);
  EXPECT_EQ(head.head_bytes, head_bytes);
}

/// The body, or what is wrong, when the input comes in pieces of `piece` bytes. What lies behind
/// the end is added after a `|`.
std::string decode(std::string_view input, std::size_t piece) {
  ChunkDecoder decoder;
  std::string body;
  std::size_t at = 0;
  std::size_t end = 0;
  while (true) {
    const ChunkDecoder::Step step = decoder.next(input.substr(at, end - at));
    at += step.consumed;
    body += step.data;
    if (step.state == ChunkDecoder::State::Malformed) return "malformed";
    if (step.state == ChunkDecoder::State::Done) return body + "|" + std::string(input.substr(at));
    if (step.consumed > 0 || !step.data.empty()) continue;
    if (end == input.size()) return "cut";
    end = std::min(input.size(), end + piece);
  }
}

struct ChunkRow {
  const char* name;
  std::string input;
  std::string expected;
};

TEST(ChunkDecoder, Rfc9112Section7_1InEverySplit) {
  const ChunkRow rows[] = {
      {"two chunks", "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world|"},
      {"the next message stays", "1\r\nx\r\n0\r\n\r\nGET /", "x|GET /"},
      {"hexadecimal in both cases", "0A\r\n0123456789\r\nb\r\n0123456789a\r\n00\r\n\r\n",
       "01234567890123456789a|"},
      {"16 digits", "0000000000000001\r\nx\r\n0\r\n\r\n", "x|"},
      {"17 digits", "00000000000000001\r\nx\r\n0\r\n\r\n", "malformed"},
      {"over 2^63-1", "8000000000000000\r\n", "malformed"},
      {"a CR in quotes", "1 ;\ta = b;c;d=\"x;\\\"y\r\"\r\nx\r\n", "malformed"},
      {"well-formed extensions", "1 ;\ta = b;c ; d=\"x; \\\"y\" ;e\r\nx\r\n0;z\r\n\r\n", "x|"},
      {"a space before CRLF", "1 \r\nx\r\n0\r\n\r\n", "malformed"},
      {"a space behind a name", "1;a \r\nx\r\n0\r\n\r\n", "malformed"},
      {"no extension name", "1;\r\nx\r\n", "malformed"},
      {"no extension value", "1;a=\r\nx\r\n", "malformed"},
      {"an open quote", "1;a=\"\r\nx\r\n", "malformed"},
      {"text behind a quote", "1;a=\"b\"c\r\nx\r\n", "malformed"},
      {"a bare LF", "1\nx\r\n0\r\n\r\n", "malformed"},
      {"a bare CR", "1\rx", "malformed"},
      {"no size", "\r\nx\r\n", "malformed"},
      {"a sign", "+1\r\nx\r\n", "malformed"},
      {"a prefix", "0x1\r\nx\r\n", "malformed"},
      {"data too long", "1\r\nxy\r\n", "malformed"},
      {"trailers are dropped", "1\r\nx\r\n0\r\nA: b\r\nContent-Length: 7\r\n\r\n!", "x|!"},
      {"a trailer without a name", "0\r\n: b\r\n\r\n", "malformed"},
      {"a trailer without a colon", "0\r\nA\r\n\r\n", "malformed"},
      {"a folded trailer", "0\r\nA: b\r\n c\r\n\r\n", "malformed"},
      {"a trailer with NUL", std::string("0\r\nA: \0\r\n\r\n", 11), "malformed"},
      {"a trailer with bare LF", "0\r\nA: b\n\r\n", "malformed"},
      {"cut in the data", "5\r\nhel", "cut"},
      {"cut before the end", "1\r\nx\r\n0\r\n", "cut"},
      {"cut in the last CRLF", "1\r\nx\r\n0\r\n\r", "cut"},
  };
  for (const ChunkRow& row : rows) {
    for (std::size_t piece = 1; piece <= row.input.size(); ++piece) {
      EXPECT_EQ(decode(row.input, piece), row.expected) << row.name << ", pieces of " << piece;
    }
  }
}

TEST(ChunkDecoder, BoundsWhatIsDropped) {
  const std::string chunk = "1;a=" + std::string(1021, 'x') + "\r\nx\r\n";  // 1,024 of extension
  EXPECT_EQ(decode(chunk + chunk + chunk + chunk + "0\r\n\r\n", 100), "xxxx|");
  EXPECT_EQ(decode(chunk + chunk + chunk + chunk + "0;a\r\n\r\n", 100), "malformed");
  const auto trailer = [](std::size_t size) {
    return "0\r\nA: " + std::string(size, 'x') + "\r\n\r\n";
  };
  EXPECT_EQ(decode(trailer(8000), 100), "|");
  EXPECT_EQ(decode(trailer(8200), 100), "malformed");
}

TEST(ChunkDecoder, DataIsAViewOfTheInput) {
  const std::string input = "5\r\nhello\r\n0\r\n\r\n";
  ChunkDecoder decoder;
  const ChunkDecoder::Step step = decoder.next(input);
  EXPECT_EQ(step.data, "hello");
  EXPECT_EQ(step.data.data(), input.data() + 3);
  EXPECT_EQ(step.consumed, 8u);
}

TEST(ChunkDecoder, StaysDoneOrBrokenUntilReset) {
  ChunkDecoder decoder;
  EXPECT_EQ(decoder.next("0\r\n\r\n").state, ChunkDecoder::State::Done);
  EXPECT_EQ(decoder.next("1\r\n").consumed, 0u);
  EXPECT_EQ(decoder.next("1\r\n").state, ChunkDecoder::State::Done);
  decoder.reset();
  EXPECT_EQ(decoder.next("x").state, ChunkDecoder::State::Malformed);
  EXPECT_EQ(decoder.next("1\r\n").state, ChunkDecoder::State::Malformed);
  decoder.reset();
  EXPECT_EQ(decoder.next("1\r\nx").data, "x");
}

}  // namespace
}  // namespace semel::proxy
