// The operator's small servers. Beast, because nothing here is hot; in this file and no header.
#include "proxy/page_server.h"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <stdexcept>

#include "core/header_rules.h"

namespace semel::proxy {
namespace {

namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<Tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Parser = http::request_parser<http::string_body>;

constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::seconds kPatienceForAPiece{30};
constexpr std::size_t kVisitorsMax = 64;
constexpr std::size_t kHeadBytesMax = 16 * 1024;
constexpr std::size_t kBufferBytes = 64 * 1024;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// What the visits of one server share, however long they outlive it.
struct House {
  Pages pages;
  std::size_t visitors = 0;
};

/// An empty piece makes the chunk that ends them.
std::string chunk_of(const std::string& piece) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), piece.size(), 16);
  std::string chunk(digits.data(), end.ptr);
  return chunk.append("\r\n").append(piece).append("\r\n");
}

std::string_view view_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

PageRequest request_of(const http::request<http::string_body>& read) {
  PageRequest request;
  request.method = view_of(read.method_string());
  const std::string_view target = view_of(read.target());
  const std::size_t mark = std::min(target.find('?'), target.size());
  request.path = target.substr(0, mark);
  request.query = target.substr(std::min(mark + 1, target.size()));
  for (const auto& field : read) {
    request.fields.emplace_back(view_of(field.name_string()), view_of(field.value()));
  }
  return request;
}

/// One connection of one visitor.
class Visit {
 public:
  Visit(std::shared_ptr<Socket> socket, std::shared_ptr<House> house)
      : socket_(std::move(socket)), house_(std::move(house)), patience_(socket_->get_executor()) {
    ++house_->visitors;
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { --house_->visitors; }

  Task<> run() {
    // One wait for the whole visit: nobody reads metrics for minutes.
    wait_at_most(kPatience);
    while (co_await one_request()) {
    }
    co_await end();
  }

 private:
  /// The visit is over then, unless this is called again before.
  void wait_at_most(std::chrono::seconds patience) {
    patience_.expires_after(patience);
    patience_.async_wait([socket = socket_](boost::system::error_code cancelled) {
      if (!cancelled) socket->close(cancelled);
    });
  }

  /// @return True if another one may follow.
  Task<bool> one_request() {
    Parser parser;
    parser.header_limit(kHeadBytesMax);
    parser.body_limit(house_->pages.body_bytes_max);
    auto [head_error, head_bytes] =
        co_await http::async_read_header(*socket_, buffer_, parser, kNoThrow);
    if (head_error) co_return co_await refuse_unreadable(head_error);
    PageRequest request = request_of(parser.get());
    if (house_->pages.refuse) {
      if (const auto refused = house_->pages.refuse(request)) {
        PageReply reply = *refused;
        co_return co_await send(std::move(reply), request.method, false);
      }
    }
    if (same_name(request.only("Expect").value_or(""), "100-continue")) {
      const auto interim = asio::buffer(kContinue);
      co_await asio::async_write(*socket_, interim, kNoThrow);
    }
    auto [body_error, body_bytes] = co_await http::async_read(*socket_, buffer_, parser, kNoThrow);
    if (body_error) co_return co_await refuse_unreadable(body_error);
    const bool keep = parser.get().keep_alive();
    const std::string method = request.method;
    const unsigned version = parser.get().version();
    request.body = std::move(parser.get().body());
    PageReply reply = co_await house_->pages.answer(std::move(request));
    if (reply.stream) {
      co_await send_stream(std::move(reply), version);
      wait_at_most(kPatience);
      co_return false;
    }
    co_return co_await send(std::move(reply), method, keep);
  }

  Task<bool> refuse_unreadable(boost::system::error_code error) {
    std::uint16_t status = 400;
    if (error == http::error::body_limit) status = 413;
    if (error == http::error::header_limit || error == http::error::buffer_overflow) status = 431;
    if (error.category() != http::make_error_code(http::error::bad_method).category() ||
        error == http::error::end_of_stream || error == http::error::partial_message) {
      co_return false;  // The visitor has gone, or the visit is over.
    }
    PageReply reply = house_->pages.unreadable(status);
    co_return co_await send(std::move(reply), "GET", false);
  }

  Task<bool> send(PageReply reply, std::string method, bool keep) {
    http::response<http::string_body> response;
    response.result(reply.status);
    response.set(http::field::content_type, reply.content_type);
    response.set(http::field::cache_control, "no-store");
    for (const auto& [name, value] : reply.fields) response.set(name, value);
    response.body() = std::move(reply.body);
    response.keep_alive(keep);
    response.prepare_payload();
    if (method == "HEAD") response.body().clear();
    auto [error, bytes] = co_await http::async_write(*socket_, response, kNoThrow);
    co_return keep && !error;
  }

  /// In chunks; to a visitor of HTTP/1.0 as it comes. Either way the connection ends with it.
  Task<> send_stream(PageReply reply, unsigned version) {
    http::response<http::empty_body> head;
    head.version(version);
    head.result(reply.status);
    head.set(http::field::content_type, reply.content_type);
    head.set(http::field::cache_control, "no-store");
    const bool is_chunked = version >= 11;
    head.keep_alive(false);
    head.chunked(is_chunked);
    http::response_serializer<http::empty_body> serializer(head);
    auto [head_error, head_bytes] =
        co_await http::async_write_header(*socket_, serializer, kNoThrow);
    if (head_error) co_return;
    watch(reply.stream);
    boost::system::error_code gone;
    while (!gone) {
      patience_.cancel();
      const auto piece = co_await reply.stream->next();
      wait_at_most(kPatienceForAPiece);
      const std::string bytes = is_chunked ? chunk_of(piece.value_or("")) : piece.value_or("");
      const auto buffer = asio::buffer(bytes);
      auto [error, sent] = co_await asio::async_write(*socket_, buffer, kNoThrow);
      if (!piece) co_return;
      gone = error;
    }
  }

  /// Notices a reader that goes away while there is nothing to send. It has nothing to say, either.
  void watch(std::weak_ptr<PageStream> stream) {
    auto heard = std::make_shared<std::array<char, 64>>();
    const auto into = asio::buffer(*heard);
    socket_->async_read_some(into, [socket = socket_, stream = std::move(stream), heard](
                                       boost::system::error_code error, std::size_t) {
      if (const auto read = stream.lock()) read->abandon();
      socket->close(error);
    });
  }

  /// Says that it is over and reads what still comes: a close over unread bytes would be a reset,
  /// which may overtake the answer.
  Task<> end() {
    boost::system::error_code gone;
    socket_->shutdown(Socket::shutdown_send, gone);
    std::array<char, 4096> rest;
    while (!gone) {
      const auto into = asio::buffer(rest);
      auto [error, bytes] = co_await socket_->async_read_some(into, kNoThrow);
      gone = error;
    }
  }

  std::shared_ptr<Socket> socket_;
  std::shared_ptr<House> house_;
  Timer patience_;
  boost::beast::flat_buffer buffer_{kBufferBytes};
};

Task<> receive(std::unique_ptr<Visit> visit) { co_await visit->run(); }

}  // namespace

bool PageRequest::has(std::string_view field) const {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const auto& line) { return same_name(line.first, field); });
}

std::optional<std::string_view> PageRequest::only(std::string_view field) const {
  std::optional<std::string_view> found;
  for (const auto& [name, value] : fields) {
    if (!same_name(name, field)) continue;
    if (found) return std::nullopt;
    found = value;
  }
  return found;
}

struct PageServer::Impl {
  Impl(asio::io_context& io, Pages pages)
      : acceptor(io.get_executor()), house(std::make_shared<House>(House{std::move(pages), 0})) {}
  Acceptor acceptor;
  std::shared_ptr<House> house;

  Task<> accept_loop() {
    while (acceptor.is_open()) {
      auto [error, socket] = co_await acceptor.async_accept(kNoThrow);
      if (error) {
        if (!acceptor.is_open()) co_return;
        Timer pause(acceptor.get_executor(), std::chrono::milliseconds(100));
        co_await pause.async_wait(kNoThrow);
        continue;
      }
      if (house->visitors >= kVisitorsMax) continue;  // The socket's end is the answer.
      auto shared = std::make_shared<Socket>(std::move(socket));
      auto visit = std::make_unique<Visit>(std::move(shared), house);
      asio::co_spawn(acceptor.get_executor(), receive(std::move(visit)), asio::detached);
    }
  }
};

PageServer::PageServer(asio::io_context& io, const config::Address& address, std::string_view key,
                       Pages pages)
    : impl_(std::make_unique<Impl>(io, std::move(pages))) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error(std::string(key) + ": " + why);
  };
  boost::system::error_code error;
  const auto host = asio::ip::make_address(address.host, error);
  if (error) fail(address.text() + " is no IP address");
  const Tcp::endpoint endpoint(host, address.port);
  Acceptor& acceptor = impl_->acceptor;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) fail("cannot listen on " + address.text() + ": " + error.message());
  asio::co_spawn(io, impl_->accept_loop(), asio::detached);
}

PageServer::~PageServer() = default;

config::Address PageServer::address() const {
  const Tcp::endpoint endpoint = impl_->acceptor.local_endpoint();
  config::Address address;
  address.host = endpoint.address().to_string();
  address.port = endpoint.port();
  return address;
}

void PageServer::close() {
  boost::system::error_code ignored;
  impl_->acceptor.close(ignored);
}

}  // namespace semel::proxy
