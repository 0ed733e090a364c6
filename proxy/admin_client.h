#pragma once

#include <string>
#include <string_view>

#include "config/config.h"

namespace semel::proxy {

/// What the admin listener answered.
struct AdminAnswer {
  unsigned status = 0;
  std::string body;
  std::string retry_after;  ///< In seconds; empty where the answer has none.
  [[nodiscard]] bool is_success() const { return status >= 200 && status < 300; }
};

/// Speaks to the admin listener of a process that serves this configuration: what the commands
/// stand on.
class AdminClient {
 public:
  /// @throws std::runtime_error where the configuration has no admin listener, or its token cannot
  ///         be read.
  explicit AdminClient(const config::Config& config);

  /// One request on a connection of its own, for at most 15 s.
  /// @param target  Path and query, escaped.
  /// @param json    The body; empty: none.
  /// @throws std::runtime_error that says why there was no answer.
  [[nodiscard]] AdminAnswer ask(std::string_view method, const std::string& target,
                                std::string json = {}) const;

 private:
  config::Address address_;
  std::string token_;
};

/// The text as a segment of a path or a value of a query: all but unreserved characters escaped
/// (RFC 3986, section 2).
[[nodiscard]] std::string percent_encoded(std::string_view text);

}  // namespace semel::proxy
