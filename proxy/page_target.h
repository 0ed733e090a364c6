#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::proxy {

/// The path and the query of a request for a page, decoded.
struct PageTarget {
  std::vector<std::string> path;  ///< What stands between slashes; `/` is one empty segment.
  std::vector<std::pair<std::string, std::string>> query;  ///< In order, repeats kept.

  /// The first value of that name.
  [[nodiscard]] std::optional<std::string> first(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
};

/// @param path  Begins with a slash, or there is nothing.
/// @return Nothing where an escape is broken, too.
[[nodiscard]] std::optional<PageTarget> read_page_target(std::string_view path,
                                                         std::string_view query);

}  // namespace semel::proxy
