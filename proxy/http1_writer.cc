#include "proxy/http1_writer.h"

#include <ctime>

#include "core/check.h"

namespace semel::proxy {
namespace {

bool is_target_text(std::string_view text) {
  return is_field_value(text) && text.find_first_of(" \t") == std::string_view::npos;
}

}  // namespace

void HeadWriter::request_line(std::string_view method, std::string_view path,
                              std::optional<std::string_view> query) {
  SEMEL_CHECK(is_token(method) && is_target_text(path) && is_target_text(query.value_or("")));
  out_.append(method).append(" ").append(path);
  if (query) out_.append("?").append(*query);
  out_.append(" HTTP/1.1\r\n");
}

void HeadWriter::status_line(std::uint16_t status, std::string_view reason) {
  SEMEL_CHECK(is_field_value(reason));
  char digits[8];
  const auto end = std::to_chars(digits, digits + sizeof digits, status).ptr;
  out_.append("HTTP/1.1 ").append(digits, end).append(" ");
  out_.append(reason.empty() ? reason_phrase(status) : reason).append("\r\n");
}

void HeadWriter::field(OwnName name, std::string_view value) {
  SEMEL_CHECK(is_field_value(value));
  line(name.text(), value);
}

void HeadWriter::foreign_field(std::string_view name, std::string_view value) {
  SEMEL_CHECK(is_token(name) && is_field_value(value));
  line(name, value);
}

void HeadWriter::received(const HeaderField& line) {
  const char* const behind_name = line.name.data() + line.name.size();
  if (line.value.data() != behind_name + 2 || behind_name[0] != ':' || behind_name[1] != ' ') {
    foreign_field(line.name, line.value);
    return;
  }
  SEMEL_CHECK(is_field_value(line.value));
  out_.append(line.name.data(), line.name.size() + 2 + line.value.size()).append("\r\n");
}

void HeadWriter::field(OwnName name, std::uint64_t number) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  line(name.text(), {digits, end});
}

void HeadWriter::line(std::string_view name, std::string_view value) {
  // Room for all of it at once: of four appends each would look for room anew.
  const std::size_t before = out_.size();
  out_.resize(before + name.size() + value.size() + 4);
  char* to = out_.data() + before;
  to += name.copy(to, name.size());
  *to++ = ':';
  *to++ = ' ';
  to += value.copy(to, value.size());
  *to++ = '\r';
  *to = '\n';
}

std::string_view reason_phrase(std::uint16_t status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 425:
      return "Too Early";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

void append_chunk_size(std::string& out, std::size_t bytes) {
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits, bytes, 16).ptr;
  out.append(digits, end).append("\r\n");
}

std::string_view http_date() {
  static thread_local std::time_t made_at = -1;
  static thread_local char text[32];
  const std::time_t now = std::time(nullptr);
  if (now != made_at) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    made_at = now;
  }
  return text;
}

}  // namespace semel::proxy
