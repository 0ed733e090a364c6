#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace semel::proxy {

/// One request as a curl command line describes it.
struct CurlRequest {
  std::string method;  ///< GET, or POST where there is a body, unless -X says otherwise.
  std::string target;  ///< Path and query, as they stand in the request line.
  std::string host;
  std::vector<std::pair<std::string, std::string>> headers;  ///< In order, without Host.
  std::optional<std::string> body;
  bool is_json_guessed = false;  ///< No Content-Type was given, and the body looks like JSON.

  /// Method, target and headers as they go over the wire, with Host and Content-Length.
  [[nodiscard]] std::string head() const;
};

/// `semel explain`'s own words beside the request.
struct ExplainOptions {
  std::string config;
  bool json = false;
  CurlRequest request;
};

/// Reads `CONFIG [curl's options] URL`: -X/--request, -H/--header, -d/--data, --data-raw,
/// --data-binary (with @file and @- as in curl), --url, and our own --json. A body that looks like
/// JSON is taken for application/json where no Content-Type is given: curl would call it a form.
/// @return the options, or a sentence that says what is wrong.
[[nodiscard]] std::variant<ExplainOptions, std::string> parse_explain_options(
    std::span<const std::string> args);

}  // namespace semel::proxy
