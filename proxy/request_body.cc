#include "proxy/request_body.h"

namespace semel::proxy {

RequestBody::RequestBody(Connection& client, BufferPool& buffers, const config::Limits& limits,
                         const RequestHead& head, std::string_view behind_head)
    : client_(client),
      buffers_(buffers),
      limits_(limits),
      framing_(head.framing, head.content_length),
      began_(std::chrono::steady_clock::now()) {
  buffers_.lend(in_);
  in_.ensure(behind_head.size());
  std::copy(behind_head.begin(), behind_head.end(), in_.room().begin());
  in_.commit(behind_head.size());
}

void RequestBody::give_back() {
  in_.consume(in_.text().size());
  buffers_.take_back(in_);
}

Task<RequestBody::Piece> RequestBody::next() {
  started_ = true;
  in_.consume(std::exchange(to_consume_, 0));
  for (;;) {
    const BodyFraming::Step step = framing_.take(in_.text());
    if (step.state == BodyFraming::State::Malformed) {
      co_return Piece{end_ = End::Malformed, {}};
    }
    received_ += step.data.size();
    if (step.state == BodyFraming::State::Last) {
      to_consume_ = 0;
      const std::string_view data = step.data;
      in_.consume(step.consumed);
      co_return shown({end_ = End::Last, data});
    }
    if (!step.data.empty()) {
      to_consume_ = step.consumed;
      co_return shown({End::More, step.data});
    }
    in_.consume(step.consumed);
    if (step.consumed != 0 && !in_.is_empty()) continue;

    in_.ensure(in_.text().size() + 1);
    const auto earned = limits_.body_min_rate == 0
                            ? std::chrono::milliseconds(0)
                            : std::chrono::milliseconds(received_ * 1000 / limits_.body_min_rate);
    client_.expires_at(began_ + limits_.body_timeout + earned);
    const ReadReply read = co_await client_.read_some(in_.room());
    if (read.end == IoEnd::Expired) co_return Piece{end_ = End::TooSlow, {}};
    if (read.end != IoEnd::Done) co_return Piece{end_ = End::Gone, {}};
    in_.commit(read.bytes);
  }
}

}  // namespace semel::proxy
