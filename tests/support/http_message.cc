#include "tests/support/http_message.h"

#include <strings.h>

#include <algorithm>
#include <charconv>

namespace semel::testing {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

template <class Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return !text.empty() && error == std::errc{} && stop == end && text.front() != '-';
}

/// `HTTP/1.1 200 OK`, with the space behind the status and a phrase that may be empty.
bool read_status_line(std::string_view line, Response& response) {
  if (!line.starts_with("HTTP/1.1 ") || line.size() < 13 || line[12] != ' ') return false;
  response.reason = line.substr(13);
  return read_number(line.substr(9, 3), response.status);
}

ReadEnd end_of(Incoming last) {
  return last == Incoming::TimedOut ? ReadEnd::TimedOut : ReadEnd::Cut;
}

Response malformed(Response response, std::string reason) {
  response.end = ReadEnd::Malformed;
  response.reason = std::move(reason);
  return response;
}

Response read_body(MessageReader& reader, Response response, std::string_view method,
                   Deadline deadline) {
  const auto lengths = response.all("Content-Length");
  const auto codings = response.all("Transfer-Encoding");
  if (lengths.size() + codings.size() > 1) return malformed(response, "framed twice");
  response.is_chunked = !codings.empty();
  if (response.is_chunked && codings[0] != "chunked") return malformed(response, "coding");
  std::size_t length = 0;
  if (!lengths.empty() && !read_number(lengths[0], length)) return malformed(response, "length");
  bool whole = true;
  if (method == "HEAD" || response.status == 204 || response.status == 304) {
    whole = true;
  } else if (response.is_chunked) {
    whole = reader.read_chunked(response.body, deadline);
    if (!whole && reader.last() == Incoming::Bytes) return malformed(response, "chunk");
  } else if (!lengths.empty()) {
    whole = reader.read_exactly(length, response.body, deadline);
  } else {
    whole = reader.read_to_end(response.body, deadline);
  }
  response.end = whole ? ReadEnd::Complete : end_of(reader.last());
  return response;
}

}  // namespace

std::vector<std::string> values_of(const HeaderLines& lines, std::string_view name) {
  std::vector<std::string> values;
  for (const HeaderLine& line : lines) {
    if (same_name(line.first, name)) values.push_back(line.second);
  }
  return values;
}

std::string text_of(const Request& request) {
  std::string text = request.method + " " + request.target + " HTTP/1.1\r\n";
  if (values_of(request.headers, "Host").empty()) text += "Host: gateway.test\r\n";
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
  const bool is_framed = !values_of(request.headers, "Content-Length").empty() ||
                         !values_of(request.headers, "Transfer-Encoding").empty();
  if (!is_framed && (!request.body.empty() || request.method == "POST")) {
    text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  return text + "\r\n" + request.body;
}

std::string_view name(ReadEnd end) {
  switch (end) {
    case ReadEnd::Complete:
      return "complete";
    case ReadEnd::Cut:
      return "cut";
    case ReadEnd::Malformed:
      return "malformed";
    case ReadEnd::TimedOut:
      return "timed out";
  }
  return "unknown";
}

std::vector<std::string> Response::all(std::string_view name) const {
  return values_of(headers, name);
}

std::optional<std::string> Response::header(std::string_view name) const {
  const std::vector<std::string> values = all(name);
  if (values.empty()) return std::nullopt;
  std::string joined = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) joined += "|" + values[i];
  return joined;
}

bool MessageReader::more(Deadline deadline) {
  last_ = socket_.read_some(buffer_, deadline, wake_fd_);
  return last_ == Incoming::Bytes;
}

bool MessageReader::wait_for(std::string_view text, Deadline deadline) {
  std::size_t from = 0;
  while (buffer_.find(text, from) == std::string::npos) {
    // What has been searched is searched once: a long answer comes in hundreds of reads.
    from = buffer_.size() < text.size() ? 0 : buffer_.size() - text.size() + 1;
    if (!more(deadline)) return false;
  }
  return true;
}

bool MessageReader::read_head(std::string& head, Deadline deadline) {
  if (!wait_for("\r\n\r\n", deadline)) return false;
  const std::size_t size = buffer_.find("\r\n\r\n") + 4;
  head = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return true;
}

bool MessageReader::read_exactly(std::size_t size, std::string& into, Deadline deadline) {
  while (size > 0) {
    if (buffer_.empty() && !more(deadline)) return false;
    const std::size_t piece = std::min(size, buffer_.size());
    into.append(buffer_, 0, piece);
    buffer_.erase(0, piece);
    size -= piece;
  }
  last_ = Incoming::Bytes;
  return true;
}

bool MessageReader::read_line(std::string& line, Deadline deadline) {
  if (!wait_for("\r\n", deadline)) return false;
  const std::size_t size = buffer_.find("\r\n");
  line = buffer_.substr(0, size);
  buffer_.erase(0, size + 2);
  return true;
}

bool MessageReader::read_chunked(std::string& into, Deadline deadline) {
  last_ = Incoming::Bytes;
  std::string line;
  for (;;) {
    std::size_t size = 0;
    if (!read_line(line, deadline)) return false;
    if (!read_number(line.substr(0, line.find(';')), size, 16)) return false;
    if (size == 0) break;
    if (!read_exactly(size, into, deadline) || !read_line(line, deadline)) return false;
    if (!line.empty()) return false;
  }
  do {
    if (!read_line(line, deadline)) return false;
  } while (!line.empty());
  return true;
}

bool MessageReader::read_to_end(std::string& into, Deadline deadline) {
  while (more(deadline)) {
  }
  into += buffer_;
  buffer_.clear();
  return last_ == Incoming::Finished;
}

std::string split_head(std::string_view head, std::string& start_line, HeaderLines& lines) {
  for (std::size_t count = 0; !head.empty(); ++count) {
    const std::size_t end = head.find("\r\n");
    if (end == std::string_view::npos) return "a line without CRLF";
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\t'; };
    if (std::any_of(line.begin(), line.end(), is_control)) return "a control character";
    if (count == 0) {
      start_line = line;
    } else if (!line.empty()) {
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || colon == 0) return "a line without a name";
      const std::string_view name = line.substr(0, colon);
      if (name.find_first_of(" \t") != std::string_view::npos) return "white space in a name";
      lines.emplace_back(name, trimmed(line.substr(colon + 1)));
    }
  }
  return {};
}

Response read_response(MessageReader& reader, std::string_view method, Deadline deadline) {
  std::vector<int> interim;
  for (;;) {
    Response response;
    response.interim = interim;
    std::string head;
    if (!reader.read_head(head, deadline)) {
      response.end = end_of(reader.last());
      return response;
    }
    std::string start_line;
    const std::string wrong = split_head(head, start_line, response.headers);
    if (!wrong.empty()) return malformed(response, wrong);
    if (!read_status_line(start_line, response)) return malformed(response, start_line);
    if (response.status >= 200 || response.status == 101) {
      return read_body(reader, std::move(response), method, deadline);
    }
    interim.push_back(response.status);
  }
}

}  // namespace semel::testing
