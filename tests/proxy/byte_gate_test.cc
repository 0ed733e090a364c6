#include "proxy/byte_gate.h"

#include <gtest/gtest.h>

#include <span>
#include <string>

namespace semel::proxy {
namespace {

/// `pass`, `more`, or the status of the refusal.
std::string verdict(const GateAnswer& answer) {
  if (const auto* refusal = std::get_if<GateRefusal>(&answer)) {
    return std::to_string(row(refusal->type).status);
  }
  return std::holds_alternative<NeedMore>(answer) ? "more" : "pass";
}

std::string judge(std::string_view bytes, const GateRules& rules = {}) {
  RequestHead head;
  return verdict(read_request_head(bytes, 0, rules, head));
}

/// A GET with these further lines, each with its CRLF.
std::string with_lines(std::string_view lines) {
  return "GET / HTTP/1.1\r\nHost: a\r\n" + std::string(lines) + "\r\n";
}

RequestHead read(std::string_view bytes, const GateRules& rules = {}) {
  RequestHead head;
  const GateAnswer answer = read_request_head(bytes, 0, rules, head);
  EXPECT_EQ(verdict(answer), "pass") << bytes;
  return head;
}

struct Row {
  const char* name;
  std::string bytes;
  const char* verdict;
};

void expect_verdicts(std::span<const Row> rows, const GateRules& rules = {}) {
  for (const Row& row : rows) EXPECT_EQ(judge(row.bytes, rules), row.verdict) << row.name;
}

TEST(ByteGate, FillsTheHeadWithViewsIntoTheBuffer) {
  const std::string bytes =
      "POST /tools/book?x=1?y HTTP/1.1\r\nHost: gw.test:80\r\nX-A: \t b c\t \r\nEmpty:\r\n"
      "content-length: 2\r\n\r\n{}";
  const RequestHead head = read(bytes);
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.target, "/tools/book?x=1?y");
  EXPECT_EQ(head.path, "/tools/book");
  EXPECT_EQ(head.query, "x=1?y");
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_EQ(head.host, "gw.test:80");
  EXPECT_EQ(head.framing, Framing::Length);
  EXPECT_EQ(head.content_length, 2u);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_EQ(head.head_bytes, bytes.size() - 2);
  ASSERT_EQ(head.fields.all().size(), 4u);
  EXPECT_EQ(head.fields.all()[1].name, "X-A");
  EXPECT_EQ(head.fields.all()[1].value, "b c");
  EXPECT_EQ(head.fields.all()[2].value, "");
  EXPECT_EQ(head.host.data(), bytes.data() + bytes.find("gw.test"));
}

TEST(ByteGate, AHeadMayBeReusedForTheNextRequest) {
  RequestHead head;
  const std::string first =
      "POST /a?q HTTP/1.0\r\nHost: a\r\nContent-Length: 5\r\nConnection: x, upgrade\r\n\r\n";
  const std::string second = "GET /b HTTP/1.1\r\nHost: b\r\n\r\n";
  ASSERT_EQ(verdict(read_request_head(first, 0, {}, head)), "pass");
  ASSERT_EQ(verdict(read_request_head(second, 0, {}, head)), "pass");
  EXPECT_EQ(head.query, std::nullopt);
  EXPECT_EQ(head.minor_version, 1);
  EXPECT_EQ(head.framing, Framing::None);
  EXPECT_EQ(head.content_length, 0u);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.names_hop_fields);
  EXPECT_EQ(head.fields.all().size(), 1u);
}

TEST(ByteGate, EverySplitOfARequestGivesTheSameHead) {
  const std::string bytes =
      "\r\nPUT /a/b?c HTTP/1.1\r\nHost: [::1]:8080\r\nTransfer-Encoding: Chunked\r\n"
      "Expect: 100-continue\r\nX-Long: " +
      std::string(50, 'v') + "\r\n\r\n5\r\nhello";
  RequestHead head;
  std::size_t scanned = 0;
  std::size_t size = 0;
  std::string answer = "more";
  while (answer == "more") {
    ASSERT_LT(size, bytes.size());
    ++size;
    const GateAnswer given =
        read_request_head(std::string_view(bytes).substr(0, size), scanned, {}, head);
    if (const auto* more = std::get_if<NeedMore>(&given)) scanned = more->scanned;
    answer = verdict(given);
  }
  EXPECT_EQ(answer, "pass");
  EXPECT_EQ(size, bytes.find("\r\n\r\n") + 4);
  EXPECT_EQ(head.head_bytes, size);
  EXPECT_EQ(head.target, "/a/b?c");
  EXPECT_TRUE(head.expects_continue);
  for (std::size_t first = 1; first < bytes.size(); ++first) {
    RequestHead split;
    const GateAnswer before =
        read_request_head(std::string_view(bytes).substr(0, first), 0, {}, split);
    const auto* more = std::get_if<NeedMore>(&before);
    EXPECT_EQ(more != nullptr, first < size);
    EXPECT_EQ(verdict(read_request_head(bytes, more ? more->scanned : 0, {}, split)), "pass")
        << first;
    EXPECT_EQ(split.fields.all().size(), 4u);
  }
}

TEST(ByteGate, ARefusedRequestIsRefusedHoweverItIsSplit) {
  const Row rows[] = {
      {"bare LF", "GET / HTTP/1.1\nHost: a\n\n", "400"},
      {"late bare LF", "GET / HTTP/1.1\r\nHost: a\r\nX: y\n\r\n", "400"},
      {"bare LF as the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n", "400"},
      {"bare CR", "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", "400"},
      {"two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400"},
      {"a long request line", "GET /" + std::string(9000, 'a'), "414"},
      {"a long method", std::string(9000, 'A'), "501"},
      {"a long line", with_lines("X: " + std::string(9000, 'a')), "431"},
      {"an unfinished line", "GET / HTTP/1.1\r\nHost: a\r\nX: nothing wrong", "more"},
  };
  for (const Row& row : rows) {
    RequestHead head;
    std::size_t scanned = 0;
    std::string dripped = "more";
    for (std::size_t size = 1; size <= row.bytes.size() && dripped == "more"; ++size) {
      const GateAnswer given =
          read_request_head(std::string_view(row.bytes).substr(0, size), scanned, {}, head);
      if (const auto* more = std::get_if<NeedMore>(&given)) scanned = more->scanned;
      dripped = verdict(given);
    }
    EXPECT_EQ(dripped, row.verdict) << row.name;
    EXPECT_EQ(judge(row.bytes), row.verdict) << row.name;
  }
}

TEST(ByteGate, GarbageIsRefusedBeforeItsHeadIsComplete) {
  const Row rows[] = {
      {"a TLS client", std::string("\x16\x03\x01\x02", 4), "400"},
      {"a space first", " ", "400"},
      {"a control character in the target", "GET /\x01", "400"},
      {"a bad name", "GET / HTTP/1.1\r\nHo st: a", "400"},
      {"a bad value", "GET / HTTP/1.1\r\nHost: a\x01", "400"},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", "400"},
      {"nothing wrong so far", "GET / HTTP/1.1\r\nHost: a\r\nX", "more"},
      {"nothing at all", "", "more"},
      {"half of an empty line", "\r", "more"},
  };
  expect_verdicts(rows);
}

TEST(ByteGate, Rfc9112Section3RequestLine) {
  const auto line = [](std::string_view text) { return std::string(text) + "\r\nHost: a\r\n\r\n"; };
  const Row rows[] = {
      {"1.0", line("GET / HTTP/1.0"), "pass"},
      {"any token is a method", line("M-SEARCH! / HTTP/1.1"), "pass"},
      {"no method", line(" / HTTP/1.1"), "400"},
      {"no target", line("GET  HTTP/1.1"), "400"},
      {"two spaces", line("GET /  HTTP/1.1"), "400"},
      {"a space behind", line("GET / HTTP/1.1 "), "400"},
      {"a tab", line("GET\t/ HTTP/1.1"), "400"},
      {"lower-case version", line("GET / http/1.1"), "400"},
      {"two digits", line("GET / HTTP/1.11"), "400"},
      {"0.9", line("GET / HTTP/0.9"), "505"},
      {"1.2", line("GET / HTTP/1.2"), "505"},
      {"2.0", line("GET / HTTP/2.0"), "505"},
      {"CONNECT", line("CONNECT a:443 HTTP/1.1"), "501"},
      {"TRACE", line("TRACE / HTTP/1.1"), "501"},
      {"an overlong method", line(std::string(33, 'A') + " / HTTP/1.1"), "501"},
      {"8 KiB", line("GET /" + std::string(8192 - 14, 'a') + " HTTP/1.1"), "pass"},
      {"8 KiB and one", line("GET /" + std::string(8192 - 13, 'a') + " HTTP/1.1"), "414"},
  };
  expect_verdicts(rows);
}

TEST(ByteGate, Rfc9112Section3_2TargetForms) {
  const auto get = [](std::string_view target) {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: gw.test\r\n\r\n";
  };
  GateRules ours;
  ours.authorities = {"gw.test"};
  EXPECT_EQ(read(get("http://GW.test/a?b=//c"), ours).target, "/a?b=//c");
  EXPECT_EQ(read(get("HTTPS://gw.test/a?b"), ours).path, "/a");
  EXPECT_EQ(read(get("http://gw.test"), ours).target, "/");
  const Row rows[] = {
      {"no authorities are configured", get("http://gw.test/"), "400"},
  };
  expect_verdicts(rows);
  const Row foreign[] = {
      {"another authority", get("http://evil.test/"), "400"},
      {"userinfo", get("http://gw.test@evil.test/"), "400"},
      {"another scheme", get("ftp://gw.test/"), "400"},
      {"a port that Host has not", get("http://gw.test:80/"), "400"},
      {"a query alone", get("http://gw.test?x"), "400"},
      {"brackets in the path", get("http://gw.test/[a]"), "400"},
      {"brackets in origin-form", get("/[a]"), "400"},
      {"no slash", get("a"), "400"},
      {"an at sign", get("@evil.test/"), "400"},
      {"*", get("*"), "400"},
      {"a fragment", get("/a#b"), "400"},
      {"a quote", get("/a\"b"), "400"},
      {"non-ASCII", get("/\xC3\xA9"), "400"},
      {"every character of RFC 3986", get("/-._~!$&'()*+,;=:@%/?/?"), "pass"},
  };
  expect_verdicts(foreign, ours);
  EXPECT_EQ(read("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").target, "*");
  EXPECT_EQ(read("OPTIONS http://gw.test HTTP/1.1\r\nHost: gw.test\r\n\r\n", ours).target, "*");
}

TEST(ByteGate, Rfc9112Section3_2ExactlyOneValidHost) {
  const auto host = [](std::string_view value) {
    return "GET / HTTP/1.0\r\nHost: " + std::string(value) + "\r\n\r\n";
  };
  for (const char* good : {"a", "gw.test:8080", "a-b_c.~d", "10.0.0.1:0", "[::1]",
                           "[2001:db8::1]:65535", "[::ffff:1.2.3.4]", "a:"}) {
    EXPECT_EQ(judge(host(good)), "pass") << good;
  }
  for (const char* bad :
       {"",          ":80",    "a:65536",      "a:+1", "a:8x", "a:000080", "a b",
        "a,b",       "a/b",    "a@b",          "[::1", "::1",  "[]",       "[::1]x",
        "[1.2.3.4]", "[v1.a]", "[::1%25eth0]", "a%41", "a;b",  "a:80:80"}) {
    EXPECT_EQ(judge(host(bad)), "400") << bad;
  }
  EXPECT_EQ(judge("GET / HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(judge("GET / HTTP/1.0\r\n\r\n"), "400");
  EXPECT_EQ(judge("GET / HTTP/1.1\r\nHost: a\r\nhOST: a\r\n\r\n"), "400");
}

TEST(ByteGate, AuthoritiesThatAreNotOursAreRefused) {
  GateRules rules;
  rules.authorities = {"gw.test", "Other.test:8443"};
  const auto host = [](std::string_view value) {
    return "GET / HTTP/1.1\r\nHost: " + std::string(value) + "\r\n\r\n";
  };
  for (const char* ours : {"gw.test", "GW.TEST:1234", "other.test:8443"}) {
    EXPECT_EQ(judge(host(ours), rules), "pass") << ours;
  }
  for (const char* foreign : {"evil.test", "other.test", "other.test:1", "xgw.test", "gw.test.x"}) {
    EXPECT_EQ(judge(host(foreign), rules), "400") << foreign;
  }
}

TEST(ByteGate, Rfc9112Section6FramingIsPlainOrRefused) {
  const Row rows[] = {
      {"the longest length", with_lines("Content-Length: 9223372036854775807\r\n"), "pass"},
      {"one more", with_lines("Content-Length: 9223372036854775808\r\n"), "400"},
      {"20 digits", with_lines("Content-Length: 10000000000000000000\r\n"), "400"},
      {"zero", with_lines("Content-Length: 0\r\n"), "pass"},
      {"two zeros", with_lines("Content-Length: 00\r\n"), "400"},
      {"the same twice", with_lines("Content-Length: 5\r\nContent-Length: 5\r\n"), "400"},
      {"a list of the same", with_lines("Content-Length: 5, 5\r\n"), "400"},
      {"hexadecimal", with_lines("Content-Length: 0x5\r\n"), "400"},
      {"chunked", with_lines("Transfer-Encoding: \t cHuNkEd \r\n"), "pass"},
      {"chunked twice", with_lines("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       "400"},
      {"with a length before", with_lines("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
       "400"},
      {"with a length behind", with_lines("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
       "400"},
      {"another coding", with_lines("Transfer-Encoding: gzip\r\n"), "501"},
      {"a list", with_lines("Transfer-Encoding: gzip, chunked\r\n"), "400"},
      {"a parameter", with_lines("Transfer-Encoding: chunked;a=b\r\n"), "400"},
      {"quoted", with_lines("Transfer-Encoding: \"chunked\"\r\n"), "400"},
      {"HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "400"},
  };
  expect_verdicts(rows);
  EXPECT_EQ(read(with_lines("Transfer-Encoding: chunked\r\n")).framing, Framing::Chunked);
  EXPECT_EQ(read(with_lines("")).framing, Framing::None);
}

TEST(ByteGate, Rfc9112Section5FieldLines) {
  const Row rows[] = {
      {"obs-fold", with_lines("X: a\r\n b\r\n"), "400"},
      {"a folded first line", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "400"},
      {"a space before the colon", with_lines("X : a\r\n"), "400"},
      {"no colon", with_lines("X\r\n"), "400"},
      {"no name", with_lines(": a\r\n"), "400"},
      {"NUL", with_lines(std::string_view("X: a\0b\r\n", 8)), "400"},
      {"DEL", with_lines("X: a\x7F\r\n"), "400"},
      {"a tab within", with_lines("X: a\tb\tc\r\n"), "pass"},
      {"obs-text", with_lines("X: \x80\xFF\r\n"), "pass"},
      {"non-ASCII name", with_lines("X\xC3\xA9: a\r\n"), "400"},
      {"every character of a token", with_lines("!#$%&'*+-.^_`|~0aZ: a\r\n"), "pass"},
  };
  expect_verdicts(rows);
}

TEST(ByteGate, LimitsAreExact) {
  const auto fields = [](int count) {
    std::string lines;
    for (int i = 1; i < count; ++i) lines += "X: y\r\n";  // Host is the first
    return with_lines(lines);
  };
  const auto head = [](std::size_t size) {
    std::string lines;
    for (int i = 0; i < 4; ++i) lines += "X: " + std::string(8000, 'a') + "\r\n";
    const std::size_t rest = size - with_lines(lines).size() - std::string_view("X: \r\n").size();
    return with_lines(lines + "X: " + std::string(rest, 'a') + "\r\n");
  };
  const Row rows[] = {
      {"100 fields", fields(100), "pass"},
      {"101 fields", fields(101), "431"},
      {"a line of 8 KiB", with_lines("X: " + std::string(8192 - 3, 'a') + "\r\n"), "pass"},
      {"a line over 8 KiB", with_lines("X: " + std::string(8192 - 2, 'a') + "\r\n"), "431"},
      {"a head of 32 KiB", head(32 * 1024), "pass"},
      {"a head over 32 KiB", head(32 * 1024 + 1), "431"},
      {"32 KiB without an end", head(40 * 1024).substr(0, 32 * 1024), "431"},
      {"less without an end", head(40 * 1024).substr(0, 32 * 1024 - 1), "more"},
  };
  EXPECT_EQ(head(32 * 1024).size(), 32u * 1024);
  expect_verdicts(rows);
}

TEST(ByteGate, Rfc9112Section9_3Persistence) {
  EXPECT_TRUE(read(with_lines("")).keep_alive);
  EXPECT_FALSE(read(with_lines("Connection: x, CLOSE\r\n")).keep_alive);
  EXPECT_FALSE(read(with_lines("Connection: keep-alive\r\nConnection: close\r\n")).keep_alive);
  EXPECT_FALSE(read("GET / HTTP/1.0\r\nHost: a\r\n\r\n").keep_alive);
  EXPECT_TRUE(read("GET / HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n").keep_alive);
  EXPECT_TRUE(read(with_lines("Connection: closed\r\n")).keep_alive);
  EXPECT_TRUE(read(with_lines("Connection: , te,,\r\n")).names_hop_fields);
  EXPECT_FALSE(read(with_lines("Connection: keep-alive, Upgrade\r\n")).names_hop_fields);
  EXPECT_EQ(judge(with_lines("Connection: a b\r\n")), "400");
}

TEST(ByteGate, Rfc9110Section10_1_1AndSection7_8ExpectAndUpgrade) {
  const RequestHead head = read(with_lines("Expect: 100-Continue\r\nContent-Length: 1\r\n"));
  EXPECT_TRUE(head.expects_continue);
  EXPECT_FALSE(head.expects_other);
  EXPECT_FALSE(read(with_lines("Expect: 100-continue\r\n")).expects_continue);  // no content
  EXPECT_TRUE(read(with_lines("Expect: 200-ok\r\n")).expects_other);
  EXPECT_TRUE(read(with_lines("Expect: 100-continue, x\r\n")).expects_other);
  EXPECT_FALSE(read("GET / HTTP/1.0\r\nHost: a\r\nExpect: x\r\n\r\n").expects_other);
  EXPECT_TRUE(read(with_lines("Connection: upgrade\r\nUpgrade: websocket\r\n")).wants_upgrade);
  EXPECT_FALSE(read(with_lines("Upgrade: websocket\r\n")).wants_upgrade);
  EXPECT_FALSE(read(with_lines("Connection: upgrade\r\n")).wants_upgrade);
}

TEST(ByteGate, IdentityIsReadOnceAndUnderOneName) {
  GateRules rules;
  rules.headers_read = {"X-Tenant-Id", "Authorization"};
  const Row rows[] = {
      {"once each", with_lines("X-Tenant-Id: a\r\nAuthorization: b\r\n"), "pass"},
      {"the tenant twice", with_lines("X-Tenant-Id: a\r\nx-tenant-ID: a\r\n"), "400"},
      {"the caller twice", with_lines("Authorization: a\r\nAuthorization: a\r\n"), "400"},
      {"Idempotency-Key twice", with_lines("Idempotency-Key: a\r\nIdempotency-Key: a\r\n"), "400"},
      {"Content-Type twice", with_lines("Content-Type: a/b\r\nContent-Type: a/b\r\n"), "400"},
      {"others twice", with_lines("Accept: a\r\nAccept: b\r\nCookie: a\r\nCookie: b\r\n"), "pass"},
      {"a twin of the tenant", with_lines("X_Tenant-Id: a\r\n"), "400"},
      {"a twin of the key", with_lines("Idempotency_Key: a\r\n"), "400"},
      {"a twin of the length", with_lines("content_length: 5\r\n"), "400"},
      {"a twin of the coding", with_lines("Transfer_Encoding: chunked\r\n"), "400"},
      {"a twin of the content type", with_lines("Content_Type: a\r\n"), "400"},
      {"another underscore", with_lines("X_Other: a\r\n"), "pass"},
      {"Connection names the tenant", with_lines("Connection: close, x-tenant-id\r\n"), "400"},
      {"Connection names a twin", with_lines("Connection: x_tenant_id\r\n"), "400"},
      {"Connection names Host", with_lines("Connection: Host\r\n"), "400"},
      {"Connection names the length", with_lines("Connection: Content-Length\r\n"), "400"},
      {"Connection names the caller", with_lines("Connection: authorization\r\n"), "400"},
      {"Connection names the type", with_lines("Connection: Content-Type\r\n"), "400"},
      {"Connection names the key", with_lines("Connection: Idempotency-Key\r\n"), "400"},
      {"Connection names what ends here", with_lines("Connection: TE, Keep-Alive, X-Hop\r\n"),
       "pass"},
  };
  expect_verdicts(rows, rules);
}

}  // namespace
}  // namespace semel::proxy
