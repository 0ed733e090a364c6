#pragma once

#include <string>
#include <string_view>

namespace semel {

/// One transition of the law as the server runs it, named by the digest of its text.
class RedisScript {
 public:
  /// @param text  Lua; has to outlive the script. Every key that it touches is passed as a key: in
  ///              a cluster nothing else keeps them together while a slot moves.
  explicit RedisScript(std::string_view text);

  [[nodiscard]] std::string_view text() const { return text_; }
  /// 40 hex digits.
  [[nodiscard]] const std::string& sha1() const { return sha1_; }

 private:
  std::string_view text_;
  std::string sha1_;
};

}  // namespace semel
