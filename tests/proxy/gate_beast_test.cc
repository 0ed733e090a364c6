// What the gate lets through, Boost.Beast's parser must read as the same method, target and fields:
// two readers that agree leave no room between them. Beast is used here only.

#include <gtest/gtest.h>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "proxy/byte_gate.h"
#include "tests/support/corpus.h"

namespace semel::proxy {
namespace {

namespace http = boost::beast::http;

std::string_view to_std(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// Reports every difference on a request that the gate let through.
void expect_beast_agrees(std::string_view bytes, const RequestHead& head) {
  http::request_parser<http::empty_body> parser;
  parser.header_limit(64 * 1024);
  parser.body_limit(boost::none);
  parser.skip(true);
  boost::beast::error_code error;
  // Beast does not ignore the one empty line that RFC 9112 2.2 would have ignored.
  bytes = bytes.substr(0, head.head_bytes);
  if (bytes.starts_with("\r\n")) bytes.remove_prefix(2);
  parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  ASSERT_TRUE(!error || error == http::error::need_more) << error.message();
  ASSERT_TRUE(parser.is_header_done());
  const auto& message = parser.get();
  EXPECT_EQ(to_std(message.method_string()), head.method);
  EXPECT_EQ(message.version(), 10u + static_cast<unsigned>(head.minor_version));
  // An absolute target is reduced to its path, which is its end.
  EXPECT_TRUE(to_std(message.target()).ends_with(head.target));
  EXPECT_EQ(message.chunked(), head.framing == Framing::Chunked);
  EXPECT_EQ(message.keep_alive(), head.keep_alive);
  const auto length = parser.content_length();
  EXPECT_EQ(length.has_value(), head.framing == Framing::Length);
  if (length) EXPECT_EQ(*length, head.content_length);
  // Beast gathers repeated names: they are compared in order within a name.
  std::size_t count = 0;
  for (const auto& field : message) {
    static_cast<void>(field);
    ++count;
  }
  EXPECT_EQ(count, head.fields.all().size());
  for (const HeaderField& field : head.fields.all()) {
    bool found = false;
    const auto range =
        message.equal_range(boost::beast::string_view(field.name.data(), field.name.size()));
    for (auto it = range.first; it != range.second; ++it) {
      found =
          found || (to_std(it->name_string()) == field.name && to_std(it->value()) == field.value);
    }
    EXPECT_TRUE(found) << field.name << ": " << field.value;
  }
}

/// @return whether the gate let it through.
bool compare(std::string_view bytes) {
  GateRules rules;
  rules.authorities = {"gw.test", "a", "example.com", "localhost"};
  RequestHead head;
  if (!std::holds_alternative<Passed>(read_request_head(bytes, 0, rules, head))) return false;
  expect_beast_agrees(bytes, head);
  return true;
}

std::vector<std::string> own_corpus() {
  std::vector<std::string> requests;
  for (const auto& row :
       testing::read_rows(SEMEL_SOURCE_DIR "/tests/proxy/corpus/http_requests.jsonl")) {
    requests.push_back(testing::to_bytes(row["raw"].text()));
  }
  return requests;
}

TEST(GateAgainstBeast, AgreesOnOurOwnCorpus) {
  std::size_t passed = 0;
  for (const std::string& bytes : own_corpus()) {
    SCOPED_TRACE(bytes.substr(0, 200));
    passed += compare(bytes);
  }
  EXPECT_GT(passed, 40u);
}

TEST(GateAgainstBeast, AgreesOnTheNaughtyStringsAsValues) {
  const auto file = testing::corpora_folder() / "blns/blns.json";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "the naughty strings are not here";
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const testing::Json strings = testing::Json::parse(text);
  std::size_t passed = 0;
  for (const auto& string : strings.items()) {
    SCOPED_TRACE(string.text());
    passed += compare("POST /a HTTP/1.1\r\nHost: a\r\nX-Naughty: " + string.text() + "\r\n\r\n");
    compare("POST /" + string.text() + " HTTP/1.1\r\nHost: a\r\n\r\n");
    compare("POST / HTTP/1.1\r\nHost: " + string.text() + "\r\n\r\n");
  }
  EXPECT_GT(passed, 450u);
}

TEST(GateAgainstBeast, AgreesOnMutatedRequests) {
  const std::vector<std::string> corpus = own_corpus();
  // Bytes that parsers trip over, and words that change the framing.
  const std::vector<std::string> pieces{"\r\n",
                                        "\n",
                                        "\r",
                                        " ",
                                        "\t",
                                        ":",
                                        ",",
                                        ";",
                                        "0",
                                        "5",
                                        std::string(1, '\0'),
                                        "\x0b",
                                        "\x7f",
                                        "\xff",
                                        "chunked",
                                        "Content-Length: 5\r\n",
                                        "Transfer-Encoding: chunked\r\n",
                                        "Host: gw.test\r\n",
                                        "HTTP/1.0",
                                        "close",
                                        "_",
                                        "/",
                                        "?"};
  std::mt19937 random(20'260'101);
  std::size_t passed = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string bytes = corpus[random() % corpus.size()];
    if (bytes.size() > 500) continue;
    for (std::size_t changes = 1 + random() % 2; changes > 0; --changes) {
      const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
      const std::string& piece = pieces[random() % pieces.size()];
      if (random() % 2 == 0) {
        bytes.insert(at, piece);
      } else {
        bytes.replace(at, random() % 3, piece);
      }
    }
    passed += compare(bytes);
    if (HasFailure()) FAIL() << "round " << round << ": " << ::testing::PrintToString(bytes);
  }
  EXPECT_GT(passed, 1'000u);
}

}  // namespace
}  // namespace semel::proxy
