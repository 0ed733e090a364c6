// The commands' way to the admin listener. Beast, as on the other side; in this file and no header.
#include "proxy/admin_client.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <stdexcept>

#include "io/task.h"
#include "proxy/admin_token.h"

namespace semel::proxy {
namespace {

namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Tcp, Executor>;
using Request = http::request<http::string_body>;

constexpr std::chrono::seconds kPatience{15};
constexpr std::size_t kAnswerBytesMax = 64 * 1024 * 1024;  // A thousand records are far less.

/// One question, its coroutine's from the first byte to the last.
struct Talk {
  Tcp::endpoint to;
  Request request;
  AdminAnswer answer;
  std::string failure = "no answer within 15 s";
};

Task<boost::system::error_code> ask_on(Socket& socket, Talk& talk) {
  auto [connect_error] = co_await socket.async_connect(talk.to, kNoThrow);
  if (connect_error) co_return connect_error;
  auto [write_error, written] = co_await http::async_write(socket, talk.request, kNoThrow);
  // A refusal may come before the body was taken: it is read all the same.
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kAnswerBytesMax);
  auto [read_error, read] = co_await http::async_read(socket, buffer, parser, kNoThrow);
  if (read_error) co_return write_error ? write_error : read_error;
  talk.answer.status = parser.get().result_int();
  talk.answer.retry_after = std::string(parser.get()[http::field::retry_after]);
  talk.answer.body = std::move(parser.get().body());
  co_return boost::system::error_code();
}

Task<> converse(asio::io_context& io, Talk& talk) {
  Socket socket(io.get_executor());
  const boost::system::error_code error = co_await ask_on(socket, talk);
  talk.failure = error ? error.message() : "";
}

/// Where a listener on all addresses is reached from its own machine.
std::string near_host(const std::string& host) {
  if (host == "0.0.0.0") return "127.0.0.1";
  return host == "::" ? "::1" : host;
}

}  // namespace

AdminClient::AdminClient(const config::Config& config) {
  if (!config.admin) {
    throw std::runtime_error(config.file +
                             ": has no admin listener; add admin: {address: \"127.0.0.1:9080\"} "
                             "and restart semel serve");
  }
  address_ = config.admin->address;
  address_.host = near_host(address_.host);
  token_ = read_admin_token(config);
}

AdminAnswer AdminClient::ask(std::string_view method, const std::string& target,
                             std::string json) const {
  boost::system::error_code error;
  Talk talk;
  talk.to = Tcp::endpoint(asio::ip::make_address(address_.host, error), address_.port);
  if (error) throw std::runtime_error(address_.text() + " is no IP address");
  talk.request.method_string({method.data(), method.size()});
  talk.request.target(target);
  talk.request.set(http::field::host, address_.text());
  talk.request.set(http::field::authorization, "Bearer " + token_);
  talk.request.set(http::field::connection, "close");
  if (!json.empty()) talk.request.set(http::field::content_type, "application/json");
  talk.request.body() = std::move(json);
  talk.request.prepare_payload();
  asio::io_context io{1};
  asio::co_spawn(io, converse(io, talk), asio::detached);
  io.run_for(kPatience);
  if (!talk.failure.empty()) {
    throw std::runtime_error("the admin listener on " + address_.text() +
                             " cannot be reached: " + talk.failure);
  }
  return std::move(talk.answer);
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kUnreserved =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (kUnreserved.find(c) != std::string_view::npos) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += {'%', kDigits[byte >> 4], kDigits[byte & 0xF]};
  }
  return encoded;
}

}  // namespace semel::proxy
