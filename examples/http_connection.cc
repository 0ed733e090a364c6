// The wire of the example tool: plain blocking sockets, one thread per connection. It is lenient,
// as the tools behind Semel are; what a request may look like is decided in front of it.

#include "examples/http_connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>

namespace semel::examples {
namespace {

constexpr std::size_t kLineBytesMax = 16 * 1024;
constexpr std::size_t kBodyBytesMax = 8 * 1024 * 1024;
constexpr std::size_t kHeadersMax = 200;

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::size_t> parse_size(std::string_view text, int base) {
  std::size_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return size <= kBodyBytesMax ? std::optional(size) : std::nullopt;
}

/// The present moment as RFC 9110, 5.6.7 writes it.
std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  const auto size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

std::string_view reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 400:
      return "Bad Request";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 422:
      return "Unprocessable Content";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "As Asked";
  }
}

}  // namespace

std::optional<std::string_view> Request::header(std::string_view name) const {
  for (const Header& line : headers) {
    if (equal_ignoring_case(line.name, name)) return line.value;
  }
  return std::nullopt;
}

HttpConnection::~HttpConnection() { ::close(socket_); }

bool HttpConnection::receive() {
  std::array<char, 16 * 1024> chunk{};
  const auto size = ::recv(socket_, chunk.data(), chunk.size(), 0);
  if (size <= 0) return false;
  received_.append(chunk.data(), static_cast<std::size_t>(size));
  return true;
}

std::optional<std::string> HttpConnection::read_line() {
  std::size_t end = received_.find("\r\n");
  while (end == std::string::npos) {
    if (received_.size() > kLineBytesMax || !receive()) return std::nullopt;
    end = received_.find("\r\n");
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 2);
  return line;
}

bool HttpConnection::read_exactly(std::size_t size, std::string& out) {
  while (received_.size() < size) {
    if (!receive()) return false;
  }
  out.append(received_, 0, size);
  received_.erase(0, size);
  return true;
}

bool HttpConnection::read_headers(Request& request) {
  while (request.headers.size() <= kHeadersMax) {
    const auto line = read_line();
    if (!line) return false;
    if (line->empty()) return true;
    const auto colon = line->find(':');
    if (colon == std::string::npos) return false;
    request.headers.push_back(
        {line->substr(0, colon), std::string(trimmed(std::string_view(*line).substr(colon + 1)))});
  }
  return false;
}

bool HttpConnection::read_chunks(std::string& body) {
  while (true) {
    const auto line = read_line();
    if (!line) return false;
    const auto size = parse_size(trimmed(std::string_view(*line).substr(0, line->find(';'))), 16);
    if (!size || body.size() + *size > kBodyBytesMax) return false;
    if (*size == 0) break;
    if (!read_exactly(*size, body)) return false;
    if (const auto end = read_line(); !end || !end->empty()) return false;
  }
  Request trailers;
  return read_headers(trailers);
}

bool HttpConnection::read_body(Request& request) {
  if (const auto coding = request.header("Transfer-Encoding")) {
    return equal_ignoring_case(*coding, "chunked") && read_chunks(request.body);
  }
  const auto length = request.header("Content-Length");
  if (!length) return true;
  const auto size = parse_size(*length, 10);
  return size && read_exactly(*size, request.body);
}

std::optional<Request> HttpConnection::read_request() {
  const auto line = read_line();
  if (!line) return std::nullopt;
  const auto first = line->find(' ');
  const auto last = line->rfind(' ');
  if (first == std::string::npos || first == last) return std::nullopt;

  Request request;
  request.method = line->substr(0, first);
  request.target = line->substr(first + 1, last - first - 1);
  if (!read_headers(request) || !read_body(request)) return std::nullopt;
  const auto connection = request.header("Connection");
  const bool is_http_1_0 = line->substr(last + 1) == "HTTP/1.0";
  request.keep_alive = !is_http_1_0 && !(connection && equal_ignoring_case(*connection, "close"));
  return request;
}

bool HttpConnection::write(const Response& response, bool keep_alive) {
  std::string bytes = "HTTP/1.1 " + std::to_string(response.status) + ' ';
  bytes.append(reason(response.status)).append("\r\nDate: ").append(date_now()).append("\r\n");
  for (const Header& line : response.headers) {
    bytes.append(line.name).append(": ").append(line.value).append("\r\n");
  }
  bytes.append("Content-Length: ").append(std::to_string(response.body.size()));
  bytes.append(keep_alive ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n").append(response.body);

  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto sent = ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void HttpConnection::outwait_client() {
  do {
    received_.clear();
  } while (receive());
}

}  // namespace semel::examples
