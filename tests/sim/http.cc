#include "tests/sim/http.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace semel::sim {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

std::string lower(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lowered;
}

}  // namespace

std::uint32_t number_in(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string_view json_member(std::string_view body, std::string_view name) {
  const std::string quoted = '"' + std::string(name) + "\":";
  const auto at = body.find(quoted);
  if (at == std::string_view::npos) return {};
  std::string_view value = body.substr(at + quoted.size());
  const bool is_text = value.starts_with('"');
  if (is_text) value.remove_prefix(1);
  return value.substr(0, value.find_first_of(is_text ? "\"" : ",}"));
}

std::uint16_t MessageReader::status() const {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  if (!first_line_.starts_with(kVersion)) return 0;
  return static_cast<std::uint16_t>(
      number_in(std::string_view(first_line_).substr(kVersion.size())));
}

std::string_view MessageReader::field(std::string_view name) const {
  const auto at = std::ranges::find(
      fields_, name, [](const auto& line) -> std::string_view { return line.first; });
  return at == fields_.end() ? std::string_view() : std::string_view(at->second);
}

bool MessageReader::read_head() {
  const auto end = text_.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  std::string_view head = std::string_view(text_).substr(0, end + 2);
  first_line_ = head.substr(0, head.find(kLineEnd));
  head.remove_prefix(first_line_.size() + 2);
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find(kLineEnd));
    head.remove_prefix(line.size() + 2);
    const auto colon = line.find(':');
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
    fields_.emplace_back(lower(line.substr(0, colon)), value);
  }
  text_.erase(0, end + 4);
  has_head_ = true;
  const bool is_bodiless = status() == 204 || status() == 304;
  if (field("transfer-encoding") == "chunked") {
    framing_ = Framing::Chunked;
  } else if (!field("content-length").empty() || status() == 0 || is_bodiless) {
    length_ = is_bodiless ? 0 : number_in(field("content-length"));
  } else {
    framing_ = Framing::UntilClose;
  }
  return true;
}

MessageReader::State MessageReader::feed(std::string_view bytes) {
  text_ += bytes;
  if (!has_head_ && !read_head()) return State::More;
  return read_body();
}

MessageReader::State MessageReader::read_body() {
  if (framing_ == Framing::Chunked) return read_chunks();
  const std::size_t wanted = framing_ == Framing::Length ? length_ - body_.size() : text_.size();
  const std::size_t taken = std::min(wanted, text_.size());
  body_.append(text_, 0, taken);
  text_.erase(0, taken);
  return framing_ == Framing::Length && body_.size() == length_ ? State::Whole : State::More;
}

MessageReader::State MessageReader::read_chunks() {
  for (;;) {
    const auto line_end = text_.find(kLineEnd);
    if (line_end == std::string::npos) return State::More;
    std::size_t size = 0;
    const auto parsed = std::from_chars(text_.data(), text_.data() + line_end, size, 16);
    if (parsed.ec != std::errc()) return State::Broken;
    const std::size_t whole = line_end + 2 + size + 2;
    if (text_.size() < whole) return State::More;
    body_.append(text_, line_end + 2, size);
    text_.erase(0, whole);
    if (size == 0) return State::Whole;
  }
}

MessageReader::State MessageReader::end() {
  return has_head_ && framing_ == Framing::UntilClose ? State::Whole : State::Broken;
}

}  // namespace semel::sim
