#include "proxy/admin_gate.h"

#include "config/units.h"
#include "core/ascii.h"
#include "core/media_type.h"
#include "proxy/problem_page.h"

namespace semel::proxy {
namespace {

constexpr std::uint64_t kHttpPort = 80;

bool has_body(const PageRequest& head) {
  if (head.has("Transfer-Encoding")) return true;
  return head.only("Content-Length").value_or("0") != "0";
}

}  // namespace

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char differs = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differs = static_cast<unsigned char>(differs | (a[i] ^ b[i]));
  }
  return differs == 0;
}

AdminGate::AdminGate(const config::Address& listener, std::string token)
    : address_(asio::ip::make_address(listener.host)),
      port_(listener.port),
      token_(std::move(token)) {}

std::optional<PageReply> AdminGate::refusal(const PageRequest& head) const {
  const auto host = head.only("Host");
  if (!host || !is_ours(*host)) return problem_page(ProblemType::Misdirected);
  if (head.has("Origin")) return problem_page(ProblemType::ForeignOrigin);
  if (!has_token(head)) {
    PageReply reply = problem_page(ProblemType::Unauthorized);
    reply.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"semel admin\"");
    return reply;
  }
  const bool is_json =
      read_media_type(head.only("Content-Type").value_or("")).kind == MediaKind::Json;
  if (has_body(head) && !is_json) {
    return problem_page(ProblemType::ContentType, "Send the body as application/json.");
  }
  return std::nullopt;
}

bool AdminGate::is_ours(std::string_view host) const {
  const std::size_t name_end = host.starts_with('[') ? host.find(']') + 1 : host.find(':');
  std::string name(host.substr(0, name_end));
  const std::string_view rest = host.substr(std::min(name.size(), host.size()));
  const auto port = rest.empty()            ? std::optional(kHttpPort)
                    : rest.starts_with(':') ? config::parse_integer(rest.substr(1))
                                            : std::nullopt;
  if (port != port_) return false;
  const bool is_near = address_.is_loopback() || address_.is_unspecified();
  if (same_name(name, "localhost")) return is_near;
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  boost::system::error_code no_address;
  const auto meant = asio::ip::make_address(name, no_address);
  if (no_address) return false;  // A name could be made to resolve to us.
  return meant == address_ || address_.is_unspecified() || (is_near && meant.is_loopback());
}

bool AdminGate::has_token(const PageRequest& head) const {
  constexpr std::string_view kScheme = "Bearer ";
  const auto value = head.only("Authorization");
  return value && value->size() > kScheme.size() &&
         same_name(value->substr(0, kScheme.size()), kScheme) &&
         same_secret(trimmed(value->substr(kScheme.size())), token_);
}

}  // namespace semel::proxy
