// One attempt at one upstream. Decides NeverSent by the bytes handed to the kernel, never by an
// error's name, and never sends again what may have left. Called by proxy/exchange.
#include "proxy/upstream.h"

#include <array>
#include <boost/asio/steady_timer.hpp>
#include <charconv>

#include "core/header_rules.h"
#include "io/clock.h"
#include "proxy/fail_point.h"
#include "proxy/http1_writer.h"
#include "proxy/metrics.h"

namespace semel::proxy {
namespace {

constexpr int kInterimMax = 16;

std::optional<std::chrono::seconds> announced_timeout(const ResponseHead& head) {
  for (const HeaderField& field : head.fields.all()) {
    if (!same_name(field.name, "keep-alive")) continue;
    constexpr std::string_view kName = "timeout=";
    for (std::string_view rest = field.value; !rest.empty();) {
      const std::string_view parameter = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(parameter.size() + 1, rest.size()));
      const auto begin = std::min(parameter.find_first_not_of(" \t"), parameter.size());
      const std::string_view trimmed = parameter.substr(begin);
      if (!same_name(trimmed.substr(0, kName.size()), kName)) continue;
      int seconds = 0;
      const char* from = trimmed.data() + kName.size();
      const auto parsed = std::from_chars(from, trimmed.data() + trimmed.size(), seconds);
      if (parsed.ec == std::errc()) return std::chrono::seconds(seconds);
    }
  }
  return std::nullopt;
}

}  // namespace

/// Sends what is left of a request while the answer is read. Shared with the call, which may end
/// first.
struct UpstreamCall::Pump {
  using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                           asio::wait_traits<std::chrono::steady_clock>, Executor>;
  explicit Pump(Executor executor) : ended(executor, Timer::time_point::max()) {}
  Connection* connection = nullptr;
  RequestBody* stream = nullptr;
  std::array<std::string_view, 2> rest;  // Of the head and of the buffered body.
  bool chunked = false;
  bool running = true;
  bool stopped = false;
  bool broke_off = false;
  bool sent_all = false;
  RequestBody::End body_end = RequestBody::End::More;
  Timer ended;
};

UpstreamCall::UpstreamCall(UpstreamSite& site, const Spawn& spawn) : site_(site), spawn_(spawn) {
  if (site_.spare_heads.empty()) return;
  request_head_ = std::move(site_.spare_heads.back());
  site_.spare_heads.pop_back();
}

UpstreamCall::~UpstreamCall() {
  site_.spare_heads.push_back(std::move(request_head_));
  // Without finish() only where the worker itself ends: then the pump is not resumed either.
  drop_connection();
  in_.consume(in_.text().size());
  site_.buffers.take_back(in_);
  body_in_.consume(body_in_.text().size());
  site_.buffers.take_back(body_in_);
}

/// Also where there is none: a call that failed while it dialled has a slot all the same.
void UpstreamCall::drop_connection() {
  connection_.reset();
  give_up_slot();
  if (std::exchange(is_late_, false)) --site_.late_calls;
}

void UpstreamCall::give_up_slot() {
  if (std::exchange(has_slot_, false)) site_.pool.forget();
}

Task<UpstreamEnd> UpstreamCall::send(const ForwardedRequest& request, std::string_view body,
                                     RequestBody* stream, Dispatch dispatch) {
  method_ = request.head->method;
  const auto& endpoints = site_.config.endpoints;
  const std::size_t first = site_.next_endpoint++;
  CallFailure why = CallFailure::Unreachable;
  const auto may_leave = [&] {
    if (boot_time() > dispatch.not_after) {
      why = CallFailure::TooLate;
    } else if (!dispatch.last_word.is_yes()) {
      why = CallFailure::Withheld;
    }
    return why == CallFailure::Unreachable;
  };
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    const std::size_t wanted = (first + i) % endpoints.size();
    endpoint_ = wanted;
    auto pooled = site_.pool.take(endpoint_, dispatch.pooled_age_max);
    if (pooled != nullptr) {
      give_up_slot();  // It stands in one of its own.
    } else if (!has_slot_ && !site_.pool.reserve()) {
      if (dispatch.waiting != nullptr) dispatch.waiting->add();
      auto handed = co_await site_.pool.wait(site_.executor, site_.deadlines,
                                             dispatch.connect_until, dispatch.pooled_age_max);
      if (dispatch.waiting != nullptr) dispatch.waiting->subtract(1);
      if (!handed) {
        why = CallFailure::NoSlot;
        break;
      }
      pooled = std::move(handed->connection);
      if (pooled != nullptr) endpoint_ = handed->endpoint;
    }
    has_slot_ = true;
    if (pooled != nullptr) {
      fail_point(FailPoint::BeforeDispatch);
      if (!may_leave()) break;
      if (co_await send_on(std::move(pooled), request, body, stream)) {
        co_return UpstreamEnd::Answered;
      }
      endpoint_ = wanted;
    }
    const config::Address& address = endpoints[endpoint_].address;
    Peer peer{address.host, address.port, address.unix_path};
    const auto until =
        std::min(dispatch.connect_until, Clock::now() + site_.config.connect_timeout);
    auto fresh = co_await dial(site_.executor, site_.deadlines, std::move(peer), until);
    fail_point(FailPoint::BeforeDispatch);
    if (!may_leave()) break;
    if (fresh != nullptr && co_await send_on(std::move(fresh), request, body, stream)) {
      co_return UpstreamEnd::Answered;
    }
  }
  give_up_slot();
  fail(why);
  co_return UpstreamEnd::NeverSent;
}

/// @return false: the kernel took no byte, so none left. The connection is closed, its slot kept.
Task<bool> UpstreamCall::send_on(std::unique_ptr<Connection> connection,
                                 const ForwardedRequest& request, std::string_view body,
                                 RequestBody* stream) {
  connection_ = std::move(connection);
  connection_->expires_never();
  request_head_.clear();
  request.render(request_head_, site_.config.endpoints[endpoint_].authority);
  const bool chunked = stream != nullptr && !request.body_length;
  if (chunked) body = {};  // A chunked stream starts with its first chunk.

  const std::array<asio::const_buffer, 2> buffers = {asio::buffer(request_head_),
                                                     asio::buffer(body.data(), body.size())};
  may_have_sent_ = true;
  const SendReply sent = connection_->write_now(buffers);
  if (sent.bytes == 0 && sent.end != IoEnd::Done) {
    may_have_sent_ = false;
    connection_.reset();
    co_return false;
  }
  sent_at_ = Clock::now();
  fail_point(FailPoint::AfterDispatch);
  if (sent.bytes == request_head_.size() + body.size() && stream == nullptr) co_return true;

  const std::string_view head = request_head_;
  pump_ = std::make_shared<Pump>(site_.executor);
  pump_->connection = connection_.get();
  pump_->stream = stream;
  pump_->chunked = chunked;
  pump_->rest[0] = head.substr(std::min(sent.bytes, head.size()));
  pump_->rest[1] = body.substr(sent.bytes > head.size() ? sent.bytes - head.size() : 0);
  spawn_(run_pump(pump_));
  co_return true;
}

Task<> UpstreamCall::run_pump(std::shared_ptr<Pump> pump) {
  std::array<asio::const_buffer, 3> buffers = {
      asio::buffer(pump->rest[0].data(), pump->rest[0].size()),
      asio::buffer(pump->rest[1].data(), pump->rest[1].size()), asio::const_buffer()};
  SendReply sent = co_await pump->connection->write_all(buffers);
  bool more = pump->stream != nullptr;
  std::string size_line;
  while (sent.end == IoEnd::Done && more && !pump->stopped) {
    const RequestBody::Piece piece = co_await pump->stream->next();
    pump->body_end = piece.end;
    if (piece.end != RequestBody::End::More && piece.end != RequestBody::End::Last) {
      // The client broke its own request off: the upstream must see it broken, too.
      pump->broke_off = true;
      pump->connection->cancel();
      break;
    }
    more = piece.end == RequestBody::End::More;
    size_line.clear();
    std::string_view tail;
    if (pump->chunked) {
      if (!piece.data.empty()) append_chunk_size(size_line, piece.data.size());
      tail = piece.data.empty() ? (more ? "" : kLastChunk) : (more ? "\r\n" : "\r\n0\r\n\r\n");
    }
    buffers = {asio::buffer(size_line), asio::buffer(piece.data.data(), piece.data.size()),
               asio::buffer(tail.data(), tail.size())};
    sent = co_await pump->connection->write_all(buffers);
  }
  pump->sent_all = sent.end == IoEnd::Done && !more;
  pump->running = false;
  pump->ended.cancel();
}

Task<bool> UpstreamCall::read_more(Clock::time_point until) {
  if (pump_ != nullptr && pump_->broke_off) {
    // It broke off before there was a read that it could end.
    request_body_end_ = pump_->body_end;
    fail(CallFailure::Cut);
    co_return false;
  }
  Buffer& into = has_head_ ? body_in_ : in_;
  site_.buffers.lend(into);
  into.ensure(into.text().size() + 1);
  connection_->expires_at(until);
  const ReadReply read = co_await connection_->read_some(into.room());
  into.commit(read.bytes);
  if (read.end == IoEnd::Done) co_return true;
  if (pump_ != nullptr) request_body_end_ = pump_->body_end;
  saw_close_ = read.end == IoEnd::Closed;
  fail(read.end == IoEnd::Expired ? CallFailure::Timeout : CallFailure::Cut);
  co_return false;
}

Task<UpstreamEnd> UpstreamCall::read_head(Clock::time_point until) {
  std::size_t scanned = 0;
  int interim = 0;
  for (;;) {
    if (!in_.is_empty()) {
      const ResponseAnswer answer = read_response_head(in_.text(), scanned, method_, head_);
      if (std::holds_alternative<Passed>(answer)) break;
      if (const auto* skipped = std::get_if<Interim>(&answer)) {
        if (++interim > kInterimMax) {
          fail(CallFailure::Malformed);
          co_return UpstreamEnd::Unanswered;
        }
        in_.consume(skipped->head_bytes);
        scanned = 0;
        continue;
      }
      if (std::holds_alternative<MalformedResponse>(answer)) {
        fail(CallFailure::Malformed);
        co_return UpstreamEnd::Unanswered;
      }
      scanned = std::get<NeedMore>(answer).scanned;
    }
    if (!co_await read_more(until)) co_return UpstreamEnd::Unanswered;
  }
  has_head_ = true;
  head_rest_ = in_.text().substr(head_.head_bytes);
  framing_ = BodyFraming(head_.framing, head_.content_length);
  co_return UpstreamEnd::Answered;
}

UpstreamCall::Piece UpstreamCall::piece_now() {
  body_in_.consume(std::exchange(to_consume_, 0));
  const bool from_head = !head_rest_.empty();
  for (;;) {
    const std::string_view input = from_head ? head_rest_ : body_in_.text();
    const BodyFraming::Step step = framing_.take(input);
    if (from_head) {
      head_rest_.remove_prefix(step.consumed);
    } else {
      to_consume_ = step.consumed;
    }
    if (step.state == BodyFraming::State::Malformed) {
      fail(CallFailure::Malformed);
      return {Piece::End::Broken, {}};
    }
    if (step.state == BodyFraming::State::Last) {
      complete();
      return {Piece::End::Last, step.data};
    }
    if (!step.data.empty()) return {Piece::End::More, step.data};
    if (!from_head) body_in_.consume(std::exchange(to_consume_, 0));
    if (step.consumed == 0 || step.consumed == input.size()) return {Piece::End::More, {}};
  }
}

Task<UpstreamCall::Piece> UpstreamCall::piece(Clock::time_point until) {
  for (;;) {
    // Bytes that the framing could not use alone are few; they are joined with what comes next.
    const Piece here = piece_now();
    if (here.end != Piece::End::More || !here.data.empty()) co_return here;
    if (!head_rest_.empty()) {
      site_.buffers.lend(body_in_);
      body_in_.ensure(head_rest_.size() + 1);
      std::copy(head_rest_.begin(), head_rest_.end(), body_in_.room().begin());
      body_in_.commit(head_rest_.size());
      head_rest_ = {};
    }
    if (co_await read_more(until)) continue;
    if (saw_close_ && framing_.ends_at_close()) {
      fail(CallFailure::None);
      complete();
      co_return Piece{Piece::End::Last, {}};
    }
    co_return Piece{Piece::End::Broken, {}};
  }
}

/// An answer, or the end of the time for one, before the whole request was sent: nobody waits for
/// the rest of it.
Task<> UpstreamCall::stop_pump() {
  if (pump_ == nullptr || !pump_->running) co_return;
  connection_->cancel();
  pump_->stopped = true;
  if (pump_->stream != nullptr) pump_->stream->abandon();
  co_await pump_->ended.async_wait(kNoThrow);
}

Task<bool> UpstreamCall::outlive_request() {
  co_await stop_pump();
  if (pump_ != nullptr && !pump_->sent_all) co_return false;
  if (connection_ == nullptr || failure_ != CallFailure::Timeout) co_return false;
  if (site_.late_calls >= site_.config.connections_max) co_return false;
  ++site_.late_calls;
  give_up_slot();
  is_late_ = true;
  pump_ = nullptr;
  failure_ = CallFailure::None;
  co_return true;
}

Task<> UpstreamCall::finish() {
  const bool silent = head_rest_.empty() && body_in_.text().size() == to_consume_;
  const bool reusable = !is_late_ && complete_ && silent && !saw_close_ && head_.keep_alive &&
                        (pump_ == nullptr || (!pump_->running && pump_->sent_all));
  if (connection_ != nullptr && !reusable) connection_->cancel();
  co_await stop_pump();
  if (connection_ != nullptr && reusable) {
    has_slot_ = false;
    site_.pool.give(endpoint_, std::move(connection_), announced_timeout(head_), answered_at_);
  } else {
    drop_connection();
  }
}

}  // namespace semel::proxy
