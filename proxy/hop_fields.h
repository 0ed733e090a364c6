#pragma once

#include <algorithm>
#include <string_view>

#include "core/header_rules.h"
#include "proxy/message.h"

namespace semel::proxy {

/// True if the field ends at this hop: by its name, or because a Connection line of its message
/// names it (RFC 9110 7.6.1). Connection may come in several lines.
/// @param head  RequestHead or ResponseHead, as its reader filled it.
template <class Head>
[[nodiscard]] bool ends_at_this_hop(const Head& head, std::string_view name) {
  if (is_hop_by_hop(name)) return true;
  if (!head.names_hop_fields) return false;
  const auto lines = head.fields.all();
  return std::any_of(lines.begin(), lines.end(), [&](const HeaderField& line) {
    return same_name(line.name, "connection") && list_names(line.value, name);
  });
}

}  // namespace semel::proxy
