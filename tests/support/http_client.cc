#include "tests/support/http_client.h"

namespace semel::testing {

HttpClient::HttpClient(std::uint16_t port, milliseconds patience)
    : patience_(patience),
      socket_(Socket::connect_to(port, Deadline(patience))),
      reader_(socket_) {}

bool HttpClient::send(std::string_view bytes) {
  return socket_.send_all(bytes, Deadline(patience_));
}

Response HttpClient::read(std::string_view method) {
  if (!is_connected()) return {};
  return read_response(reader_, method, Deadline(patience_));
}

Response HttpClient::exchange(const Request& request) {
  send(request);
  return read(request.method);
}

bool HttpClient::sees(std::string_view text) { return reader_.wait_for(text, Deadline(patience_)); }

bool HttpClient::sees_end() {
  if (!is_connected()) return true;
  std::string rest;
  reader_.read_to_end(rest, Deadline(patience_));
  return rest.empty() && reader_.last() != Incoming::TimedOut;
}

Response call(std::uint16_t port, const Request& request) {
  return HttpClient(port).exchange(request);
}

Response call_raw(std::uint16_t port, std::string_view bytes) {
  HttpClient client(port);
  client.send(bytes);
  return client.read();
}

Response fetch(std::uint16_t port, const std::string& target) {
  return call(port, Request{"GET", target, {}, {}});
}

}  // namespace semel::testing
