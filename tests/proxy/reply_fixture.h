#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "proxy/byte_gate.h"
#include "proxy/http1_reader.h"
#include "proxy/reply.h"
#include "tests/io/loop.h"
#include "tests/support/http_message.h"

namespace semel::proxy {

// Heads of an upstream, one for each framing of a body of five bytes.
inline constexpr const char* kLength = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n";
inline constexpr const char* kChunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
inline constexpr const char* kUntilClose = "HTTP/1.1 200 OK\r\n";

inline StoredResponse stored_of(std::uint16_t status, FieldLines fields, std::string body) {
  StoredResponse stored;
  stored.status = status;
  stored.fields = std::move(fields);
  stored.body = std::move(body);
  return stored;
}

inline testing::Deadline soon() { return testing::Deadline(std::chrono::seconds(10)); }

/// One client that asked something, and the reply to it. What was read is judged by the tests' own
/// strict client.
class ReplyTest : public ::testing::Test {
 protected:
  /// The client asks; its lines each with CRLF.
  Reply& asked(std::string method = "POST", std::string version = "1.1", std::string lines = {}) {
    method_ = std::move(method);
    request_text_ = method_ + " / HTTP/" + version + "\r\nHost: a\r\n" + lines + "\r\n";
    EXPECT_TRUE(std::holds_alternative<Passed>(read_request_head(request_text_, 0, {}, request_)));
    return reply.emplace(*stream.ours, request_, scratch_);
  }
  /// The upstream's head, as the reader of answers let it through.
  const ResponseHead& head(std::string text) {
    head_text_ = std::move(text) + "\r\n";
    const auto read = read_response_head(head_text_, 0, method_, head_);
    EXPECT_TRUE(std::holds_alternative<Passed>(read)) << head_text_;
    return head_;
  }
  void run(Task<> task) { loop.run(std::move(task)); }

  /// What the client reads, which the session then ends where the reply says so.
  testing::Response received() {
    if (!reply->keeps_alive()) stream.ours->shutdown_write();
    return testing::read_response(reader_, method_, soon());
  }
  /// True if nothing more comes, and the connection is open.
  bool silence() {
    return reader_.unread().empty() &&
           testing::next_news(stream.theirs) == testing::Incoming::TimedOut;
  }

  /// Whether a client that has what came so far, and then sees a clean end, takes the answer for
  /// complete.
  bool looks_complete_by_now() {
    testing::Stream copy = testing::tcp_stream(loop);
    sofar += testing::arrived(stream.theirs);
    const std::array<asio::const_buffer, 1> bytes = {asio::buffer(sofar)};
    EXPECT_EQ(copy.ours->write_now(bytes).bytes, sofar.size());
    copy.ours.reset();
    testing::MessageReader reader(copy.theirs);
    return testing::read_response(reader, method_, soon()).is_complete();
  }

  static GuardWords guarded(Outcome outcome) {
    GuardWords words;
    words.guarded = true;
    words.outcome = outcome;
    words.reference = "00112233445566778899aabbccddeeff";
    return words;
  }

  testing::Loop loop;
  testing::Stream stream = testing::tcp_stream(loop);
  std::optional<Reply> reply;
  std::string sofar;

 private:
  testing::MessageReader reader_{stream.theirs};
  std::string method_;
  std::string request_text_;
  RequestHead request_;
  std::string head_text_;
  ResponseHead head_;
  std::string scratch_;
};

}  // namespace semel::proxy
