#include "proxy/forwarded_request.h"

#include <algorithm>

#include "core/header_rules.h"
#include "proxy/hop_fields.h"
#include "proxy/http1_writer.h"

namespace semel::proxy {
namespace {

/// Names that the rebuilt head sets itself.
bool is_rebuilt(std::string_view name) {
  switch (name.size()) {
    case 3:
      return same_name(name, "via");
    case 4:
      return same_name(name, "host");
    case 6:
      return same_name(name, "expect");
    case 11:
      return same_name(name, "traceparent");
    case 14:
      return same_name(name, "content-length");
    case 15:
      return same_name(name, "x-forwarded-for");
    case 16:
      return same_name(name, "x-forwarded-host");
    case 17:
      return same_name(name, "x-forwarded-proto");
    default:
      return false;
  }
}

/// On a guarded route the tool sees the key that Semel vouches for, or none.
bool is_key_field(const Route& route, std::string_view name) {
  return same_name(name, "idempotency-key") || same_name(name, route.forward_key.header) ||
         same_name(name, "semel-fence");
}

/// Some servers read `_` for `-`: a twin of a field that we set is as good as the field (spec 10).
bool is_ours(const Route& route, bool guarded, std::string_view name) {
  const auto is_set_by_us = [&](std::string_view spelled) {
    return is_rebuilt(spelled) || (guarded && is_key_field(route, spelled));
  };
  if (is_set_by_us(name)) return true;
  if (name.find('_') == std::string_view::npos) return false;
  std::string twin(name);
  std::replace(twin.begin(), twin.end(), '_', '-');
  return is_set_by_us(twin);
}

/// A list that came in several lines is one list, in their order (RFC 9110 5.3).
void append_element(std::string& list, std::string_view value) {
  if (value.empty()) return;
  if (!list.empty()) list.append(", ");
  list.append(value);
}

void write_key(HeadWriter& writer, const ForwardedRequest& request, std::string& quoted) {
  const ForwardKey& rules = request.route->forward_key;
  std::string_view value;
  switch (rules.value) {
    case ForwardKey::Value::Off:
      break;
    case ForwardKey::Value::Derived:
      value = request.key_hex;
      break;
    case ForwardKey::Value::Client:
      value = request.client_key;
      break;
  }
  if (!value.empty()) {
    if (rules.quoted) {
      quoted.assign("\"").append(value).append("\"");
      value = quoted;
    }
    writer.foreign_field(rules.header, value);
  }
  if (rules.fence) writer.field("Semel-Fence", request.fence.value);
}

}  // namespace

void ForwardedRequest::render(std::string& out, std::string_view authority) const {
  HeadWriter writer(out);
  const bool guarded = !key_hex.empty();
  writer.request_line(head->method, path, head->query);
  writer.field("Host", route->keep_host ? head->host : authority);

  std::string forwarded_for;
  std::string via;
  for (const HeaderField& field : head->fields.all()) {
    if (same_name(field.name, "x-forwarded-for")) append_element(forwarded_for, field.value);
    if (same_name(field.name, "via")) append_element(via, field.value);
    if (is_ours(*route, guarded, field.name) || ends_at_this_hop(*head, field.name)) continue;
    writer.received(field);
  }

  append_element(forwarded_for, client_address);
  if (!forwarded_for.empty()) writer.field("X-Forwarded-For", forwarded_for);
  writer.field("X-Forwarded-Proto", "http");
  writer.field("X-Forwarded-Host", head->host);
  append_element(via, head->minor_version == 0 ? "1.0 semel" : "1.1 semel");
  writer.field("Via", via);
  writer.field("traceparent", trace_parent);
  if (guarded) {
    std::string quoted;
    write_key(writer, *this, quoted);
  }
  if (body_length) {
    if (has_body || *body_length != 0) writer.field("Content-Length", *body_length);
  } else if (has_body) {
    writer.field("Transfer-Encoding", "chunked");
  }
  writer.end();
}

bool is_trace_parent(std::string_view value) {
  if (value.size() != 55 || value[2] != '-' || value[35] != '-' || value[52] != '-') return false;
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const auto all_zero = [](std::string_view part) {
    return part.find_first_not_of('0') == std::string_view::npos;
  };
  for (const auto& [from, count] : {std::pair{0, 2}, {3, 32}, {36, 16}, {53, 2}}) {
    const auto part = value.substr(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
    if (!std::all_of(part.begin(), part.end(), is_hex)) return false;
  }
  return value.substr(0, 2) != "ff" && !all_zero(value.substr(3, 32)) &&
         !all_zero(value.substr(36, 16));
}

}  // namespace semel::proxy
