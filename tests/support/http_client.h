#pragma once

#include <string_view>

#include "tests/support/http_message.h"

namespace semel::testing {

/// A blocking HTTP/1.1 client on one connection to 127.0.0.1. Each wait ends after `patience`.
class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, milliseconds patience = milliseconds{15'000});
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  [[nodiscard]] bool is_connected() const { return socket_.is_open(); }

  /// Sends bytes as they are.
  bool send(std::string_view bytes);
  bool send(const Request& request) { return send(text_of(request)); }
  /// Reads the next response of the connection.
  [[nodiscard]] Response read(std::string_view method = "POST");
  [[nodiscard]] Response exchange(const Request& request);
  /// Waits until `text` has arrived, without taking it.
  [[nodiscard]] bool sees(std::string_view text);
  /// True once the other side has ended the connection and nothing is left to read.
  [[nodiscard]] bool sees_end();

  void half_close() { socket_.half_close(); }
  /// Goes away politely, with FIN.
  void close() { socket_.close(); }
  /// Goes away rudely, with RST.
  void reset() { socket_.reset(); }

 private:
  milliseconds patience_;
  Socket socket_;
  MessageReader reader_;
};

/// One request on a connection of its own.
[[nodiscard]] Response call(std::uint16_t port, const Request& request);
/// Bytes as they are, on a connection of their own.
[[nodiscard]] Response call_raw(std::uint16_t port, std::string_view bytes);
[[nodiscard]] Response fetch(std::uint16_t port, const std::string& target);

}  // namespace semel::testing
