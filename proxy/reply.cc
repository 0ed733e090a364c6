// The one place that answers a client. Called by proxy/session and proxy/exchange.
#include "proxy/reply.h"

#include <array>

#include "core/header_rules.h"
#include "proxy/fail_point.h"
#include "proxy/hop_fields.h"
#include "proxy/http1_writer.h"

namespace semel::proxy {
namespace {

constexpr std::size_t kStallBytes = 64 * 1024;

bool has_no_store(std::string_view cache_control) { return list_names(cache_control, "no-store"); }

std::string_view veto_word(RetryVeto veto) { return veto == RetryVeto::Retry ? "true" : "false"; }

}  // namespace

void Reply::write_words(const GuardWords& words) {
  if (!words.guarded) return;
  HeadWriter writer(pending_);
  if (words.outcome == Outcome::Replayed || words.outcome == Outcome::Collapsed) {
    writer.field("Idempotent-Replayed", "true");
  }
  writer.field("Idempotency-Status", name(words.outcome));
  if (!words.reference.empty()) writer.field("Idempotency-Ref", words.reference);
  if (!words.client_key.empty()) writer.field("Idempotency-Key", words.client_key);
  if (words.veto) {
    writer.field("x-should-retry", "false");
    writer.field("stripe-should-retry", "false");
  }
}

void Reply::write_connection() {
  HeadWriter writer(pending_);
  if (!keep_alive_) {
    writer.field("Connection", "close");
  } else if (is_http10_) {
    writer.field("Connection", "keep-alive");
  }
}

Task<> Reply::problem(const Problem& problem, GuardWords words, std::string_view allow) {
  const ProblemRow& fixed = row(problem.type);
  const std::string body = render_body(problem);
  status_ = fixed.status;
  problem_slug_ = fixed.slug;
  pending_.clear();
  HeadWriter writer(pending_);
  writer.status_line(status_);
  writer.field("Date", http_date());
  writer.field("Content-Type", "application/problem+json");
  writer.field("Content-Length", body.size());
  writer.field("Cache-Control", "no-store");
  if (!allow.empty()) writer.field("Allow", allow);
  if (problem.retry_after_seconds) {
    writer.field("Retry-After", static_cast<std::uint64_t>(*problem.retry_after_seconds));
  }
  if (const RetryVeto veto = retry_veto(problem); veto != RetryVeto::Silent) {
    writer.field("x-should-retry", veto_word(veto));
    writer.field("stripe-should-retry", veto_word(veto));
  }
  write_words(words);
  write_connection();
  writer.end();
  way_ = Way::Length;
  co_await send(is_head_ ? std::string_view() : std::string_view(body), {});
}

Task<> Reply::stored(const StoredResponse& response, GuardWords words) {
  status_ = response.status;
  pending_.clear();
  HeadWriter writer(pending_);
  writer.status_line(status_);
  bool dated = false;
  bool no_store = false;
  for (const HeaderField field : response.fields) {
    if (same_name(field.name, "content-length")) continue;
    if (same_name(field.name, "cache-control")) {
      if (!has_no_store(field.value)) continue;
      no_store = true;
    }
    dated |= same_name(field.name, "date");
    writer.received(field);
  }
  if (!dated) writer.field("Date", http_date());
  if (!no_store) writer.field("Cache-Control", "no-store");
  // What HEAD was answered with had no body; its length is not the one that GET would have had.
  const bool has_length = status_ != 204 && status_ != 304 && !(is_head_ && response.body.empty());
  if (has_length) writer.field("Content-Length", response.body.size());
  write_words(words);
  write_connection();
  writer.end();
  way_ = Way::Length;
  co_await send(is_head_ ? std::string_view() : std::string_view(response.body), {});
}

Task<> Reply::no_content() {
  status_ = 204;
  pending_.clear();
  HeadWriter writer(pending_);
  writer.status_line(status_);
  writer.field("Date", http_date());
  write_connection();
  writer.end();
  co_await send({}, {});
}

void Reply::begin(const ResponseHead& head, const GuardWords& words) {
  status_ = head.status;
  const bool bodiless = is_head_ || status_ == 204 || status_ == 304;
  if (bodiless) {
    way_ = Way::None;
  } else if (head.framing == Framing::Length || head.framing == Framing::None) {
    way_ = Way::Length;
  } else {
    way_ = is_http10_ ? Way::UntilClose : Way::Chunked;
    if (is_http10_) keep_alive_ = false;
  }
  pending_.clear();
  HeadWriter writer(pending_);
  writer.status_line(status_, head.reason);
  bool dated = false;
  for (const HeaderField& field : head.fields.all()) {
    if (ends_at_this_hop(head, field.name)) continue;
    if (same_name(field.name, "content-length")) {
      // Of an answer without a body it is a statement of the upstream's, not framing.
      if (bodiless && status_ != 204) writer.foreign_field(field.name, field.value);
      continue;
    }
    if (words.guarded && is_our_answer_field(field.name)) continue;
    dated |= same_name(field.name, "date");
    writer.received(field);
  }
  if (!dated) writer.field("Date", http_date());
  if (way_ == Way::Length) {
    writer.field("Content-Length", head.content_length);
    if (head.content_length == 0) way_ = Way::None;
  }
  if (way_ == Way::Chunked) writer.field("Transfer-Encoding", "chunked");
  write_words(words);
  write_connection();
  writer.end();
}

Task<> Reply::piece(std::string_view data, Hold hold) {
  if (way_ == Way::None) {
    // The head is all of the answer: it is the last byte itself.
    if (hold == Hold::Nothing && !head_has_left_) co_await send({}, {});
    co_return;
  }
  if (way_ == Way::Chunked) {
    // The last chunk is what is held; all others may go.
    if (data.empty()) {
      if (!head_has_left_) co_await send({}, {});
      co_return;
    }
    append_chunk_size(pending_, data.size());
    co_await send(data, "\r\n");
    co_return;
  }
  if (!data.empty()) pending_.append(std::exchange(held_, {}));
  if (hold == Hold::LastByte && !data.empty()) {
    held_.assign(1, data.back());
    data.remove_suffix(1);
  }
  if (!head_has_left_ || !data.empty() || !pending_.empty()) co_await send(data, {});
}

Task<> Reply::end(std::string_view last_piece) {
  if (way_ == Way::None) last_piece = {};
  std::string_view tail;
  if (way_ == Way::Chunked) {
    tail = kLastChunk;
    if (!last_piece.empty()) {
      append_chunk_size(pending_, last_piece.size());
      tail = "\r\n0\r\n\r\n";
    }
  }
  pending_.append(std::exchange(held_, {}));
  if (!head_has_left_ || !pending_.empty() || !last_piece.empty() || !tail.empty()) {
    co_await send(last_piece, tail);
  }
}

void Reply::cut() {
  keep_alive_ = false;
  gone_ = true;
  cut_ = true;
  held_.clear();
}

Task<> Reply::send(std::string_view body, std::string_view tail) {
  if (gone_) {
    pending_.clear();
    co_return;
  }
  const std::array<asio::const_buffer, 3> buffers = {asio::buffer(pending_),
                                                     asio::buffer(body.data(), body.size()),
                                                     asio::buffer(tail.data(), tail.size())};
  if (!head_has_left_) fail_point(FailPoint::BeforeReply);
  client_.expires_after(patience_);
  SendReply sent = client_.write_now(buffers);
  bytes_sent_ += sent.bytes;
  std::size_t skip = sent.bytes;
  for (const asio::const_buffer& buffer : buffers) {
    asio::const_buffer rest = buffer + skip;
    skip -= buffer.size() - rest.size();
    while (sent.end == IoEnd::Done && rest.size() != 0) {
      // A slow client is served for as long as it takes some of it.
      const std::array<asio::const_buffer, 1> slice = {asio::buffer(rest, kStallBytes)};
      client_.expires_after(patience_);
      sent = co_await client_.write_all(slice);
      bytes_sent_ += sent.bytes;
      rest += sent.bytes;
    }
  }
  head_has_left_ = true;
  pending_.clear();
  if (sent.end != IoEnd::Done) gone_ = true;
}

}  // namespace semel::proxy
