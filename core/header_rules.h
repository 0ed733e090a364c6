#pragma once

#include <string_view>

namespace semel {

/// `same_name` for two names that are equally long.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b);

/// ASCII case-insensitive equality, as field names compare (RFC 9110 5.1). Most names differ in
/// length, and that needs no call.
[[nodiscard]] inline bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  // Bits beyond the case bit differ in most pairs of one length at the first letter already.
  if (!a.empty() && ((a.front() ^ b.front()) & ~0x20) != 0) return false;
  return same_letters(a, b);
}

/// Hop-by-hop (RFC 9110 7.6.1 and the older names): never forwarded either way, never stored.
[[nodiscard]] bool is_hop_by_hop(std::string_view name);

/// Not stored and not replayed (spec 8): hop-by-hop, `Set-Cookie`, `WWW-Authenticate`, `Proxy-*`,
/// `Date`, `Server-Timing`, `Alt-Svc`, trace fields, framing, and the names that Semel answers
/// with.
[[nodiscard]] bool is_stored(std::string_view name);

/// Names that only Semel may set on an answer: `Idempotent-Replayed`, `Idempotency-Status`,
/// `Idempotency-Ref`, `x-should-retry`, `stripe-should-retry` and the echo `Idempotency-Key`.
[[nodiscard]] bool is_our_answer_field(std::string_view name);

[[nodiscard]] constexpr bool is_token_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
/// A token of RFC 9110 5.6.2, at least one character.
[[nodiscard]] bool is_token(std::string_view text);

/// No CR, LF, NUL or other control but HTAB: may be written as a field value (RFC 9110 5.5).
[[nodiscard]] bool is_field_value(std::string_view text);

/// True if the comma-separated list of tokens (a `Connection` value, say) names `token`, any case.
[[nodiscard]] bool list_names(std::string_view list, std::string_view token);

/// True if `name` is not `read` but becomes it where `_` and `-` are one: an underscore twin (spec
/// 10). CGI-like servers cannot tell the two apart.
[[nodiscard]] bool is_underscore_twin(std::string_view name, std::string_view read);

}  // namespace semel
