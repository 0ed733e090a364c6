#include "io/tcp.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <vector>

namespace semel {

Connection::Connection(Socket socket, Deadlines& deadlines)
    : socket_(std::move(socket)), deadlines_(deadlines), deadline_(&Connection::on_deadline, this) {
  boost::system::error_code ignored;
  socket_.non_blocking(true, ignored);
}

void Connection::on_deadline(void* self) {
  auto* connection = static_cast<Connection*>(self);
  connection->expired_ = true;
  connection->cancel();
}

void Connection::expires_at(Deadlines::Clock::time_point at) {
  // A peer whose bytes are always there already would otherwise never be waited for, nor end.
  expired_ = at <= deadlines_.coarse_now();
  deadlines_.arm(deadline_, at);
}

IoEnd Connection::classify(const boost::system::error_code& error) const {
  if (!error) return IoEnd::Done;
  if (error == asio::error::eof) return IoEnd::Closed;
  if (expired_) return IoEnd::Expired;
  return IoEnd::Broken;
}

Task<ReadReply> Connection::read_some(std::span<char> room) {
  if (expired_) co_return ReadReply{IoEnd::Expired, 0};
  // Whoever reads has just written, and the peer has not answered yet: a read at once would mostly
  // be a call in vain. A busy worker has others to serve first, and then finds the bytes here.
  cancelled_ = false;
  co_await asio::post(socket_.get_executor(), kAwait);
  // What has arrived counts, whatever happened to the wait for it.
  if (const std::optional<ReadReply> now = read_now(room)) co_return *now;
  if (expired_) co_return ReadReply{IoEnd::Expired, 0};
  if (cancelled_) co_return ReadReply{IoEnd::Broken, 0};
  const asio::mutable_buffer buffer(room.data(), room.size());
  auto [error, bytes] = co_await socket_.async_read_some(buffer, kNoThrow);
  if (error && expired_) {
    // The time is over, and the bytes may have come in the same moment: once more they count.
    if (const std::optional<ReadReply> now = read_now(room)) co_return *now;
  }
  co_return ReadReply{classify(error), bytes};
}

std::optional<ReadReply> Connection::read_now(std::span<char> room) {
  const auto got = ::recv(socket_.native_handle(), room.data(), room.size(), MSG_DONTWAIT);
  if (got > 0) return ReadReply{IoEnd::Done, static_cast<std::size_t>(got)};
  if (got == 0) return ReadReply{IoEnd::Closed, 0};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return std::nullopt;
  return ReadReply{IoEnd::Broken, 0};
}

Task<IoEnd> Connection::wait_readable() {
  if (expired_) co_return IoEnd::Expired;
  auto [error] = co_await socket_.async_wait(Socket::wait_read, kNoThrow);
  co_return classify(error);
}

SendReply Connection::write_now(std::span<const asio::const_buffer> buffers) {
  if (expired_) return {IoEnd::Expired, 0};
  std::array<iovec, 16> vectors;
  std::size_t count = 0;
  for (const auto& buffer : buffers) {
    if (buffer.size() == 0) continue;
    if (count == vectors.size()) break;
    vectors[count++] = {const_cast<void*>(buffer.data()), buffer.size()};
  }
  if (count == 0) return {IoEnd::Done, 0};
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = count;
  for (;;) {
    const auto sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
    if (sent >= 0) return {IoEnd::Done, static_cast<std::size_t>(sent)};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoEnd::Done, 0};
    return {IoEnd::Broken, 0};
  }
}

Task<SendReply> Connection::write_all(std::span<const asio::const_buffer> buffers) {
  std::size_t total = 0;
  for (const auto& buffer : buffers) total += buffer.size();
  SendReply now = write_now(buffers);
  if (now.end != IoEnd::Done || now.bytes == total) co_return now;

  std::vector<asio::const_buffer> rest(buffers.begin(), buffers.end());
  std::size_t written = now.bytes;
  std::size_t skip = now.bytes;
  while (written < total) {
    while (!rest.empty() && skip >= rest.front().size()) {
      skip -= rest.front().size();
      rest.erase(rest.begin());
    }
    if (!rest.empty()) rest.front() += skip;
    auto [error, bytes] = co_await socket_.async_write_some(rest, kNoThrow);
    written += bytes;
    if (error) co_return SendReply{classify(error), written};
    skip = bytes;
  }
  co_return SendReply{IoEnd::Done, written};
}

bool Connection::is_idle_and_open() {
  char byte;
  const auto peeked = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return peeked < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

bool Connection::peer_is_gone() {
  char byte;
  const auto peeked = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (peeked > 0) return false;
  return peeked == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void Connection::cancel() {
  cancelled_ = true;
  boost::system::error_code ignored;
  socket_.cancel(ignored);
}

void Connection::shutdown_write() {
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Connection::reset() {
  deadline_.disarm();
  boost::system::error_code ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

}  // namespace semel
