#include "tests/support/resp_client.h"

#include <cstdlib>
#include <stdexcept>

namespace semel::testing {

std::string RespValue::printed() const {
  if (kind != Kind::List) return text;
  std::string all;
  for (const RespValue& item : items) {
    if (&item != &items.front()) all += '\n';
    all += item.printed();
  }
  return all;
}

RespClient::RespClient(std::uint16_t port, milliseconds patience)
    : patience_(patience), socket_(Socket::connect_to(port, Deadline(patience))) {}

bool RespClient::send(const std::vector<std::string>& words) {
  std::string request = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    request += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return is_connected() && socket_.send_all(request, Deadline(patience_));
}

std::optional<RespValue> RespClient::read() {
  if (!is_connected()) return std::nullopt;
  return value(Deadline(patience_));
}

std::optional<RespValue> RespClient::ask(const std::vector<std::string>& words) {
  if (!send(words)) return std::nullopt;
  return read();
}

std::optional<std::string> RespClient::line(Deadline deadline) {
  std::size_t end = std::string::npos;
  while ((end = received_.find("\r\n")) == std::string::npos) {
    if (socket_.read_some(received_, deadline) != Incoming::Bytes) return std::nullopt;
  }
  std::string taken = received_.substr(0, end);
  received_.erase(0, end + 2);
  return taken;
}

std::optional<std::string> RespClient::bytes(std::size_t count, Deadline deadline) {
  while (received_.size() < count + 2) {
    if (socket_.read_some(received_, deadline) != Incoming::Bytes) return std::nullopt;
  }
  std::string taken = received_.substr(0, count);
  received_.erase(0, count + 2);
  return taken;
}

std::optional<RespValue> RespClient::value(Deadline deadline) {
  const std::optional<std::string> head = line(deadline);
  if (!head || head->empty()) return std::nullopt;
  const std::string rest = head->substr(1);
  const long count = std::strtol(rest.c_str(), nullptr, 10);
  switch (head->front()) {
    case '+':
      return RespValue{RespValue::Kind::Text, rest, {}};
    case '-':
      return RespValue{RespValue::Kind::Error, rest, {}};
    case ':':
      return RespValue{RespValue::Kind::Integer, rest, {}};
    case '$': {
      if (count < 0) return RespValue{};
      std::optional<std::string> text = bytes(static_cast<std::size_t>(count), deadline);
      if (!text) return std::nullopt;
      return RespValue{RespValue::Kind::Text, std::move(*text), {}};
    }
    case '*': {
      if (count < 0) return RespValue{};
      RespValue list{RespValue::Kind::List, {}, {}};
      for (long i = 0; i < count; ++i) {
        std::optional<RespValue> item = value(deadline);
        if (!item) return std::nullopt;
        list.items.push_back(std::move(*item));
      }
      return list;
    }
    default:
      return std::nullopt;
  }
}

std::string text_or_throw(const std::optional<RespValue>& answer,
                          const std::vector<std::string>& question) {
  if (!answer) throw std::runtime_error("no answer to " + question.front());
  if (answer->kind == RespValue::Kind::Error) {
    throw std::runtime_error(question.front() + ": " + answer->text);
  }
  return answer->printed();
}

}  // namespace semel::testing
