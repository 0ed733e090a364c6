#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct redisReader;

namespace semel {

/// One answer of a Redis server.
struct RedisReply {
  enum class Kind : std::uint8_t { Nil, Integer, Text, Error, Array };
  Kind kind = Kind::Nil;
  std::int64_t integer = 0;
  std::string
      text;  ///< Of Text, a status too, and of Error: "CODE what it says", without what it quotes.
  std::vector<RedisReply> items;

  [[nodiscard]] bool is_error() const { return kind == Kind::Error; }
  /// The first word of an error: "NOSCRIPT". Empty for anything else.
  [[nodiscard]] std::string_view code() const;
};

/// Answers out of bytes as they come.
/// @thread One at a time.
class RedisReader {
 public:
  /// What announces a longer array is no server of ours.
  static constexpr std::size_t kItemsMax = 1U << 20;
  /// Nor is what sends more than this without an end: Redis holds no text over 512 MiB.
  static constexpr std::size_t kBytesMax = 640U << 20;

  RedisReader();
  RedisReader(const RedisReader&) = delete;
  RedisReader& operator=(const RedisReader&) = delete;

  void feed(std::string_view bytes);
  /// @return Absent: the next one has not arrived whole, or the bytes are no protocol.
  [[nodiscard]] std::optional<RedisReply> next();
  /// What came is no Redis protocol; nothing is read from here on.
  [[nodiscard]] bool is_broken() const { return broken_; }

 private:
  struct Free {
    void operator()(redisReader* reader) const;
  };
  std::unique_ptr<redisReader, Free> reader_;
  bool broken_ = false;
};

/// Appends one command as it goes over the wire.
void append_command(std::string& out, std::span<const std::string_view> words);

}  // namespace semel
