#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/socket.h"

namespace semel::testing {

/// One value of the Redis protocol, version 2.
struct RespValue {
  enum class Kind : std::uint8_t { Text, Integer, Nil, Error, List };
  Kind kind = Kind::Nil;
  std::string text;  ///< Of all but Nil and List.
  std::vector<RespValue> items;

  /// As `redis-cli` prints it to a pipe: an item a line, nothing for nil.
  [[nodiscard]] std::string printed() const;
};

/// A client of Redis of the tests' own, on one connection to 127.0.0.1: what Semel's own client
/// says to a server is not to be judged by itself. Each wait ends after `patience`.
class RespClient {
 public:
  explicit RespClient(std::uint16_t port, milliseconds patience = milliseconds{5'000});

  [[nodiscard]] bool is_connected() const { return socket_.is_open(); }
  bool send(const std::vector<std::string>& words);
  /// The next value that the server sends. @return Absent if none came whole.
  [[nodiscard]] std::optional<RespValue> read();
  [[nodiscard]] std::optional<RespValue> ask(const std::vector<std::string>& words);

 private:
  [[nodiscard]] std::optional<std::string> line(Deadline deadline);
  [[nodiscard]] std::optional<std::string> bytes(std::size_t count, Deadline deadline);
  [[nodiscard]] std::optional<RespValue> value(Deadline deadline);

  milliseconds patience_;
  Socket socket_;
  std::string received_;
};

/// @return RespValue::printed(). @throws std::runtime_error with the words of an error, or where
/// no answer came.
[[nodiscard]] std::string text_or_throw(const std::optional<RespValue>& answer,
                                        const std::vector<std::string>& question);

}  // namespace semel::testing
