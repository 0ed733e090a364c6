#include "proxy/forwarded_request.h"

#include <algorithm>

#include "core/header_rules.h"
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
    writer.field(rules.header, value);
  }
  if (rules.fence) writer.field("Semel-Fence", request.fence.value);
}

}  // namespace

void ForwardedRequest::render(std::string& out, std::string_view authority) const {
  HeadWriter writer(out);
  const bool guarded = !key_hex.empty();
  out.append(head->method).append(" ").append(path);
  if (head->query) out.append("?").append(*head->query);
  out.append(" HTTP/1.1\r\n");
  writer.field("Host", route->keep_host ? head->host : authority);

  std::string_view connection_names;
  std::string_view forwarded_for;
  std::string_view via;
  for (const HeaderField& field : head->fields.all()) {
    if (same_name(field.name, "connection")) connection_names = field.value;
  }
  for (const HeaderField& field : head->fields.all()) {
    if (is_rebuilt(field.name)) {
      if (same_name(field.name, "x-forwarded-for")) forwarded_for = field.value;
      if (same_name(field.name, "via")) via = field.value;
      continue;
    }
    if (is_hop_by_hop(field.name)) continue;
    if (!connection_names.empty() && list_names(connection_names, field.name)) continue;
    if (guarded && is_key_field(*route, field.name)) continue;
    writer.field(field.name, field.value);
  }

  if (!client_address.empty()) {
    if (forwarded_for.empty()) {
      writer.field("X-Forwarded-For", client_address);
    } else {
      out.append("X-Forwarded-For: ").append(forwarded_for).append(", ");
      out.append(client_address).append("\r\n");
    }
  }
  writer.field("X-Forwarded-Proto", "http");
  writer.field("X-Forwarded-Host", head->host);
  if (via.empty()) {
    writer.field("Via", "1.1 semel");
  } else {
    writer.field("Via", via, ", 1.1 semel");
  }
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
