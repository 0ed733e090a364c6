#include "proxy/page_target.h"

#include <algorithm>

#include "core/form.h"

namespace semel::proxy {

std::optional<std::string> PageTarget::first(std::string_view name) const {
  for (const auto& [found, value] : query) {
    if (found == name) return value;
  }
  return std::nullopt;
}

std::vector<std::string> PageTarget::all(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [found, value] : query) {
    if (found == name) values.push_back(value);
  }
  return values;
}

std::optional<PageTarget> read_page_target(std::string_view path, std::string_view query) {
  PageTarget target;
  if (!path.starts_with('/')) return std::nullopt;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    if (!append_percent_decoded(segment, target.path.emplace_back())) return std::nullopt;
    path.remove_prefix(segment.size());
  }
  while (!query.empty()) {
    const std::string_view piece = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(piece.size() + 1, query.size()));
    if (piece.empty()) continue;
    auto& [name, value] = target.query.emplace_back();
    const std::size_t equals = std::min(piece.find('='), piece.size());
    const std::string_view written = piece.substr(std::min(equals + 1, piece.size()));
    if (!append_form_decoded(piece.substr(0, equals), name)) return std::nullopt;
    if (!append_form_decoded(written, value)) return std::nullopt;
  }
  return target;
}

}  // namespace semel::proxy
