#pragma once

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

#include "tests/support/http_message.h"

namespace semel::testing {

/// The lines that came from the tool: without framing and without what Semel itself says.
inline HeaderLines lines_of_the_tool(const Response& response) {
  static const std::set<std::string> kOurs = {"content-length",
                                              "transfer-encoding",
                                              "connection",
                                              "keep-alive",
                                              "date",
                                              "via",
                                              "cache-control",
                                              "idempotent-replayed",
                                              "idempotency-status",
                                              "idempotency-ref",
                                              "idempotency-key",
                                              "x-should-retry",
                                              "stripe-should-retry"};
  HeaderLines lines;
  for (const HeaderLine& line : response.headers) {
    std::string lower = line.first;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!kOurs.contains(lower)) lines.push_back(line);
  }
  return lines;
}

}  // namespace semel::testing
