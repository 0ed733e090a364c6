// Requests to smuggle with. Written from RFC 9112 and from published desynchronisation attacks; it
// does not matter here which of them the gate refuses.
#include "tests/smuggling/cases.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string_view>
#include <utility>

#include "tests/support/corpus.h"

namespace semel::testing {
namespace {

using std::string_literals::operator""s;

constexpr char kSmuggled[] = "GET /smuggled HTTP/1.1\r\nHost: gw.test\r\nX-Tenant-Id: evil\r\n\r\n";

struct Framed {
  std::string name;
  std::string lines;  ///< Each with its CRLF.
  std::string bytes;
};

std::string hex(std::size_t number) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[number % 16]);
    number /= 16;
  } while (number > 0);
  return digits;
}

/// Chunks of at most that many bytes. `mark` follows each size, `tail` the last one.
std::string chunks(std::string_view body, std::size_t most, const std::string& mark = "",
                   const std::string& tail = "") {
  std::string coded;
  while (!body.empty()) {
    const std::string_view piece = body.substr(0, most);
    coded.append(hex(piece.size())).append(mark).append("\r\n").append(piece).append("\r\n");
    body.remove_prefix(piece.size());
  }
  return coded + "0" + mark + "\r\n" + tail + "\r\n";
}

std::vector<Framed> framings(const std::string& body) {
  const std::string length = "Content-Length: " + std::to_string(body.size()) + "\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  return {{"length", length, body},
          {"length-padded", "CONTENT-LENGTH:\t " + std::to_string(body.size()) + " \t\r\n", body},
          {"chunked", chunked, chunks(body, 4096)},
          {"chunked-in-capitals", "TRANSFER-ENCODING:CHUNKED\r\n", chunks(body, 4096)},
          {"chunked-in-sevens", chunked, chunks(body, 7)},
          {"chunk-extensions", chunked, chunks(body, 16 + body.size() / 16, ";a=b;c=\"d;e\"")},
          {"trailers", chunked,
           chunks(body, 32, "", "Content-Length: 5\r\nX-Tenant-Id: evil\r\nHost: evil.test\r\n")},
          {"trailer-that-frames", "Trailer: Transfer-Encoding\r\n" + chunked,
           chunks(body, 32, "", "Transfer-Encoding: chunked\r\n")}};
}

std::string head(const std::string& start, const std::string& tenant, const std::string& lines) {
  return start + " HTTP/1.1\r\nHost: gw.test\r\nX-Tenant-Id: " + tenant + "\r\n" + lines + "\r\n";
}

struct OddLine {
  const char* name;
  std::string line;
};

/// Header lines beside `Content-Length: 5`, about how the body ends.
std::vector<OddLine> framing_lines() {
  return {
      {"plain", "X-A: b\r\n"},
      {"te-beside-length", "Transfer-Encoding: chunked\r\n"},
      {"te-space-name", "Transfer-Encoding : chunked\r\n"},
      {"te-tab-name", "Transfer-Encoding\t: chunked\r\n"},
      {"te-x", "Transfer-Encoding: xchunked\r\n"},
      {"te-identity", "Transfer-Encoding: identity\r\n"},
      {"te-list", "Transfer-Encoding: chunked, identity\r\n"},
      {"te-empty", "Transfer-Encoding:\r\n"},
      {"te-quoted", "Transfer-Encoding: \"chunked\"\r\n"},
      {"te-vertical-tab", "Transfer-Encoding:\x0b chunked\r\n"},
      {"te-folded", "Transfer-Encoding:\r\n chunked\r\n"},
      {"te-folded-behind", "X-A: b\r\n Transfer-Encoding: chunked\r\n"},
      {"te-underscore", "Transfer_Encoding: chunked\r\n"},
      {"te-bare-lf", "X-A: b\nTransfer-Encoding: chunked\r\n"},
      {"te-bare-cr", "X-A: b\rTransfer-Encoding: chunked\r\n"},
      {"te-nul", "X-A: b\0Transfer-Encoding: chunked\r\n"s},
      {"te-no-break-space",
       "Transfer-Encoding:\xa0"
       "chunked\r\n"},
      {"length-twice", "Content-Length: 5\r\n"},
      {"length-other", "Content-Length: 6\r\n"},
      {"length-zero-too", "Content-Length: 0\r\n"},
      {"length-underscore", "Content_Length: 0\r\n"},
      {"length-space-name", "Content-Length : 0\r\n"},
  };
}

/// The same, about who is asking and what ends at this hop.
std::vector<OddLine> identity_lines() {
  return {
      {"tenant-twice", "X-Tenant-Id: evil\r\n"},
      {"tenant-underscore", "X_Tenant_Id: evil\r\n"},
      {"tenant-folded", "X-A: b\r\n\tX-Tenant-Id: evil\r\n"},
      {"tenant-bare-lf", "X-A: b\nX-Tenant-Id: evil\r\n"},
      {"tenant-space-name", "X-Tenant-Id : evil\r\n"},
      {"tenant-in-front", " X-Tenant-Id: evil\r\n"},
      {"key-of-the-client", "Idempotency-Key: 0123\r\n"},
      {"key-underscore", "Idempotency_Key: 0123\r\n"},
      {"connection-tenant", "Connection: X-Tenant-Id\r\n"},
      {"connection-length", "Connection: Content-Length\r\n"},
      {"connection-host", "Connection: close, Host\r\n"},
      {"connection-key", "Connection: Idempotency-Key\r\n"},
      {"connection-own", "Connection: X-A\r\nX-A: b\r\n"},
      {"connection-list", "Connection: keep-alive,,  ,\tX-A\r\nX-A: b\r\n"},
      {"keep-alive", "Keep-Alive: timeout=1\r\nProxy-Connection: close\r\n"},
      {"upgrade-h2c",
       "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n"},
      {"upgrade-websocket", "Connection: Upgrade\r\nUpgrade: websocket\r\n"},
      {"te-field", "TE: trailers, deflate\r\nConnection: TE\r\n"},
      {"expect", "Expect: 100-continue\r\n"},
      {"expect-other", "Expect: 200-ok\r\n"},
  };
}

/// The same, about where the request goes and what a line is.
std::vector<OddLine> other_lines() {
  return {
      {"override-method", "X-HTTP-Method-Override: DELETE\r\nX-Method-Override: DELETE\r\n"},
      {"override-url", "X-Original-URL: /smuggled\r\nX-Rewrite-URL: /smuggled\r\n"},
      {"host-twice", "Host: gw.test\r\n"},
      {"host-other", "Host: evil.test\r\n"},
      {"forwarded", "Forwarded: host=evil.test\r\nX-Forwarded-Host: evil.test\r\nVia: 1.0 x\r\n"},
      {"eight-bit-value", "X-A: \xc3\xa9\xff\r\n"},
      {"tab-in-value", "X-A: a\tb\r\n"},
      {"empty-value", "X-A:\r\nX-B: \t \r\n"},
      {"eight-bit-name", "X\xc3\xa9: b\r\n"},
      {"name-with-space", "X A: b\r\n"},
      {"no-colon", "X-A\r\n"},
      {"no-name", ": b\r\n"},
      {"escape-in-value", "X-A: \x1b[0m\r\n"},
      {"crlf-escaped", "X-A: b%0d%0aTransfer-Encoding:%20chunked\r\n"},
      {"cr-before-crlf", "X-A: b\r\r\n"},
      {"long-value", "X-A: " + std::string(6000, 'a') + "\r\n"},
      {"many-lines",
       [] {
         std::string lines;
         for (int i = 0; i < 60; ++i) lines += "X-" + std::to_string(i) + ": y\r\n";
         return lines;
       }()},
  };
}

/// Targets as they are sent, and the normal form where they are legal on a keyed route.
std::vector<std::pair<std::string, std::string>> targets() {
  return {{"/tools/book", "/tools/book"},
          {"/tools/book?x=1&y=%2f..%2F", "/tools/book?x=1&y=%2f..%2F"},
          {"/tools/book?", "/tools/book?"},
          {"/tools/book?a?b=/..//%41", "/tools/book?a?b=/..//%41"},
          {"/%74ools/%62%6F%6fk", "/tools/book"},
          {"/a%20b/%c3%a9", "/a%20b/%C3%A9"},
          {"/%e2%84%ab/%f0%9f%98%80", "/%E2%84%AB/%F0%9F%98%80"},
          {"/a:b@c!$&'()*+,=d/-._~", "/a:b@c!$&'()*+,=d/-._~"},
          {"/100%25", "/100%25"},
          {"/tools/book/", "/tools/book/"},
          {"/%22%3c%3E%5B%7c%7D", "/%22%3C%3E%5B%7C%7D"},
          {"/%40%3a%2b", "/%40%3A%2B"},
          {"/...", "/..."},
          {"/%ff%fe", "/%FF%FE"},
          {"/tools//book", ""},
          {"//evil.test/tools", ""},
          {"/tools/./book", ""},
          {"/tools/x/../book", ""},
          {"/tools/x/%2e%2e/book", ""},
          {"/tools%2fbook", ""},
          {"/tools%5cbook", ""},
          {"/tools\\book", ""},
          {"/tools/book;v=1", ""},
          {"/tools/..;/book", ""},
          {"/tools/%2562ook", ""},
          {"/tools/book%00.html", ""},
          {"/tools/book%0d%0aX:%20y", ""},
          {"/tools/b%c0%afok", ""},
          {"/tools/\xc3\xa9", ""},
          {"/tools/book#x", ""},
          {"/tools/bo ok", ""},
          {"/tools/book%", ""},
          {"/tools/%u0062ook", ""},
          {"tools/book", ""},
          {"*", ""},
          {"@evil.test/", ""},
          {"http://gw.test/tools/book", ""},
          {"http://evil.test/tools/book", ""},
          {"http:/tools/book", ""},
          {"evil.test:80", ""},
          {"", ""}};
}

SmugglingCase pair_of(const std::string& name, const std::string& tenant, const std::string& first,
                      const std::string& second) {
  return {name, head("POST /tools/book", tenant, first) + second, tenant, std::nullopt};
}

void add_pairs(std::vector<SmugglingCase>& cases) {
  const auto tenant = [&cases] { return "odd-" + std::to_string(cases.size()); };
  const std::string next = head("POST /tools/next", "second", "Content-Length: 2\r\n") + "{}";
  const std::string length = "Content-Length: 5\r\n";
  cases.push_back(pair_of("two", tenant(), length, "hello" + next));
  cases.push_back(pair_of("two-behind-chunks", tenant(), "Transfer-Encoding: chunked\r\n",
                          chunks("hello", 2) + next));
  cases.push_back(pair_of("two-with-empty-line", tenant(), length, "hello\r\n" + next));
  cases.push_back(
      pair_of("two-after-close", tenant(), "Connection: close\r\n" + length, "hello" + next));
  cases.push_back(pair_of("too-long-a-body", tenant(), length, "hello to you"));
  cases.push_back(pair_of("too-short-a-body", tenant(), length, "hell"));
  cases.push_back(pair_of("a-smuggled-one", tenant(), length, "hello"s + kSmuggled));
  cases.push_back(pair_of("no-length", tenant(), "", kSmuggled));
  cases.push_back(pair_of("zero-chunk-then-one", tenant(), "Transfer-Encoding: chunked\r\n",
                          "0\r\n\r\n"s + kSmuggled));
  for (const char* coded :
       {"5\r\nhello0\r\n\r\n", "5\nhello\n0\n\n", "05 \r\nhello\r\n0\r\n\r\n",
        "-5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5;\r\nhello\r\n0\r\n\r\n",
        "5;a\n\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\n", "5\r\nhello\r\n0\r\n\r",
        "g\r\nhello\r\n0\r\n\r\n", "00000000000000005\r\nhello\r\n0\r\n\r\n",
        "10000000000000005\r\nhello\r\n0\r\n\r\n", "5\r\nhello\r\n0\r\nX\r\n\r\n",
        "5\r\nhello\r\n\r\n0\r\n\r\n", "5\r\nhello\r\n0;a=\"\r\n\r\n\"\r\n\r\n"}) {
    cases.push_back(pair_of(std::string("chunks ") + coded, tenant(),
                            "Transfer-Encoding: chunked\r\n", std::string(coded) + kSmuggled));
  }
}

/// A row of a corpus with a tenant, without which none would be keyed.
SmugglingCase with_lines(const std::string& title, std::string raw, const std::string& lines) {
  const std::string tenant = "corpus: " + title;
  const std::size_t line_end = raw.find("\r\n", raw.starts_with("\r\n") ? 2 : 0);
  if (line_end != raw.npos) raw.insert(line_end + 2, "X-Tenant-Id: " + tenant + "\r\n" + lines);
  return {title, std::move(raw), tenant, std::nullopt};
}

}  // namespace

std::vector<SmugglingCase> framed_cases() {
  std::string all_bytes;
  for (int byte = 0; byte < 256; ++byte) all_bytes += static_cast<char>(byte);
  const std::vector<std::string> bodies{"hello",
                                        kSmuggled,
                                        "0\r\n\r\n"s + kSmuggled,
                                        all_bytes,
                                        "{\"flight\": \"BA117\"}\r\n",
                                        std::string(20'000, '\n')};
  std::vector<SmugglingCase> cases;
  for (const char* path : {"/tools/book", "/plain/book"}) {
    for (const std::string& body : bodies) {
      for (const Framed& framed : framings(body)) {
        const std::string tenant = "framed-" + std::to_string(cases.size());
        cases.push_back({std::string(path) + " " + framed.name + " " + std::to_string(body.size()),
                         head("POST "s + path, tenant, framed.lines) + framed.bytes, tenant,
                         Meaning{"POST", path, body}});
      }
    }
  }
  for (const auto& [sent, normal] : targets()) {
    if (normal.empty()) continue;
    for (const Framed& framed : framings("{\"a\": 1}")) {
      const std::string tenant = "framed-" + std::to_string(cases.size());
      const std::string lines = "Content-Type: application/json\r\n" + framed.lines;
      cases.push_back({sent + " " + framed.name,
                       head("PATCH " + sent, tenant, lines) + framed.bytes, tenant,
                       Meaning{"PATCH", normal, "{\"a\": 1}"}});
    }
  }
  return cases;
}

std::vector<SmugglingCase> odd_cases() {
  std::vector<SmugglingCase> cases;
  const auto tenant = [&cases] { return "odd-" + std::to_string(cases.size()); };
  for (const char* path : {"/tools/book", "/plain/book"}) {
    for (const auto& lines : {framing_lines(), identity_lines(), other_lines()}) {
      for (const OddLine& odd : lines) {
        const std::string raw = head("POST "s + path, tenant(), "Content-Length: 5\r\n" + odd.line);
        cases.push_back({path + " "s + odd.name, raw + "hello", tenant(), std::nullopt});
      }
    }
  }
  for (const auto& [sent, normal] : targets()) {
    const std::string raw = head("PUT " + sent, tenant(), "Content-Length: 5\r\n") + "hello";
    cases.push_back(
        {"target " + sent, raw, tenant(),
         normal.empty() ? std::nullopt : std::optional(Meaning{"PUT", normal, "hello"})});
  }
  for (const char* method : {"GET", "DELETE", "PATCH", "post", "PURGE", "P\xc3\xb6st", "HEAD"}) {
    const bool listed = method == "GET"s || method == "DELETE"s || method == "PATCH"s;
    cases.push_back({"method "s + method, head(method + " /tools/book"s, tenant(), ""), tenant(),
                     listed ? std::optional(Meaning{method, "/tools/book", ""}) : std::nullopt});
  }
  add_pairs(cases);
  return cases;
}

std::vector<SmugglingCase> corpus_cases() {
  std::vector<SmugglingCase> cases;
  for (const Json& row : read_rows(SEMEL_SOURCE_DIR "/tests/proxy/corpus/http_requests.jsonl")) {
    cases.push_back(with_lines(row["id"].text(), to_bytes(row["raw"].text()), ""));
  }
  return cases;
}

std::vector<SmugglingCase> llhttp_cases() {
  std::vector<SmugglingCase> cases;
  const auto file = corpora_folder() / "llhttp/requests.jsonl";
  if (!std::filesystem::exists(file)) return cases;
  for (const Json& row : read_rows(file)) {
    if (!row["type"].text().starts_with("request")) continue;
    const std::string raw = row["raw"].text();
    // Its conditions and its form are parts of the key that no server tells.
    if (raw.find("If-") != raw.npos || raw.find("urlencoded") != raw.npos) continue;
    const bool has_host = raw.find("\nHost:") != raw.npos || raw.find("\nHOST:") != raw.npos ||
                          raw.find("\nhost:") != raw.npos;
    cases.push_back(with_lines(std::to_string(cases.size()) + " " + row["title"].text(), raw,
                               has_host ? "" : "Host: a\r\n"));
  }
  return cases;
}

std::vector<SmugglingCase> mutated_cases(const std::vector<SmugglingCase>& from, std::uint32_t seed,
                                         int count) {
  const std::vector<std::string> tokens{"\r\n",
                                        "\n",
                                        "\r",
                                        "\0"s,
                                        " ",
                                        "\t",
                                        ":",
                                        ";",
                                        ",",
                                        "0",
                                        "5",
                                        "\r\n ",
                                        "\r\n\r\n",
                                        "0\r\n\r\n",
                                        "chunked",
                                        "Transfer-Encoding: chunked\r\n",
                                        "Content-Length: 0\r\n",
                                        "Content-Length: 5\r\n",
                                        "Connection: close\r\n",
                                        "\x80",
                                        "%2e",
                                        "/",
                                        "HTTP/1.0",
                                        kSmuggled};
  // What leaves most requests legal, so that the server sees them.
  const std::vector<std::string> plain{"a", "Z", "7", "-", "%41", "%7e", "&", "=", "."};
  std::mt19937 random(seed);
  const auto roll = [&random](std::size_t sides) { return random() % sides; };
  std::vector<SmugglingCase> cases;
  for (int i = 0; i < count; ++i) {
    SmugglingCase made = from[roll(from.size())];
    made.name = "seed " + std::to_string(seed) + ", number " + std::to_string(i) + ": " + made.name;
    made.meaning.reset();
    for (std::size_t changes = 1 + roll(2); changes > 0; --changes) {
      const std::size_t at = roll(std::min<std::size_t>(made.raw.size(), 300) + 1);
      const std::vector<std::string>& words = roll(2) == 0 ? tokens : plain;
      made.raw.replace(at, roll(4) == 0 ? 1 : 0, words[roll(words.size())]);
    }
    cases.push_back(std::move(made));
  }
  return cases;
}

}  // namespace semel::testing
