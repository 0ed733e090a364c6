#include "proxy/request_line.h"

#include "core/header_rules.h"
#include "proxy/byte_classes.h"

namespace semel::proxy {
namespace {

constexpr std::size_t kMethodBytesMax = 32;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Where the bytes of these classes that begin at `at` end.
std::size_t end_of_word(std::string_view buffer, std::size_t at, int classes) {
  while (at < buffer.size() && is_any_of(buffer[at], classes)) ++at;
  return at;
}

/// `tail` is ten bytes: the version and what must be CRLF (RFC 9112 2.3).
bool read_version(std::string_view tail, int& minor_version, GateRefusal& refusal) {
  if (!tail.starts_with("HTTP/") || !is_digit(tail[5]) || tail[6] != '.' || !is_digit(tail[7]) ||
      tail[8] != '\r' || tail[9] != '\n') {
    refusal = {ProblemType::BadRequest, "the request line does not end with HTTP/1.1 and CR LF"};
    return false;
  }
  if (tail[5] != '1' || tail[7] > '1') {
    refusal = {ProblemType::HttpVersion, "the version is neither HTTP/1.1 nor HTTP/1.0"};
    return false;
  }
  minor_version = tail[7] - '0';
  return true;
}

bool reduce_absolute_form(const GateRules& rules, RequestHead& head) {
  std::string_view rest = head.target;
  const std::size_t scheme_end = rest.find("://");
  if (scheme_end == std::string_view::npos || rules.authorities.empty()) return false;
  const std::string_view scheme = rest.substr(0, scheme_end);
  if (!same_name(scheme, "http") && !same_name(scheme, "https")) return false;
  rest.remove_prefix(scheme_end + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  if (!same_name(authority, head.host)) return false;
  rest.remove_prefix(authority.size());
  if (rest.empty()) rest = head.method == "OPTIONS" ? "*" : "/";  // RFC 9112 3.2.4, RFC 9110 4.2.3
  // A query without a path could not be a view; brackets belong to the authority alone.
  if (rest.front() == '?' || rest.find_first_of("[]") != std::string_view::npos) return false;
  head.target = rest;
  return true;
}

}  // namespace

Progress read_request_line(std::string_view buffer, std::size_t& at, RequestHead& head,
                           GateRefusal& refusal) {
  const auto refuse = [&refusal](ProblemType type, std::string_view reason) {
    refusal = {type, reason};
    return Progress::Refused;
  };
  std::size_t end = end_of_word(buffer, at, kTokenByte);
  if (end - at > kMethodBytesMax) {
    return refuse(ProblemType::NotImplemented, "the method is longer than any that is served here");
  }
  if (end == buffer.size()) return Progress::Incomplete;
  if (end == at || buffer[end] != ' ') {
    return refuse(ProblemType::BadRequest, "the request line does not begin with a method");
  }
  head.method = buffer.substr(at, end - at);

  const std::size_t target_at = end + 1;
  // Brackets may only stand around an IPv6 address: judge_target decides.
  const bool is_origin_form = target_at < buffer.size() && buffer[target_at] == '/';
  end = end_of_word(buffer, target_at, is_origin_form ? kTargetByte : kTargetByte | kBracketByte);
  if (end == buffer.size()) return Progress::Incomplete;
  if (end == target_at || buffer[end] != ' ') {
    return refuse(ProblemType::BadRequest,
                  "the target has a character that RFC 3986 does not allow");
  }
  head.target = buffer.substr(target_at, end - target_at);

  constexpr std::size_t kTailBytes = 10;
  const std::string_view tail = buffer.substr(end + 1, kTailBytes);
  if (tail.size() < kTailBytes) return Progress::Incomplete;
  if (end + kTailBytes - 1 - at > kLineBytesMax) {
    return refuse(ProblemType::UriTooLong, "the request line is over 8 KiB");
  }
  if (!read_version(tail, head.minor_version, refusal)) return Progress::Refused;
  if (head.method == "CONNECT" || head.method == "TRACE") {
    return refuse(ProblemType::NotImplemented, "CONNECT and TRACE are not served here");
  }
  at = end + 1 + kTailBytes;
  return Progress::Read;
}

bool judge_target(const GateRules& rules, RequestHead& head, GateRefusal& refusal) {
  if (head.target.front() != '/' && head.target != "*" && !reduce_absolute_form(rules, head)) {
    refusal = {ProblemType::BadRequest, "the target is neither a path nor an address served here"};
    return false;
  }
  if (head.target == "*" && head.method != "OPTIONS") {
    refusal = {ProblemType::BadRequest, "the target * is only for OPTIONS"};
    return false;
  }
  const std::size_t mark = head.target.find('?');
  head.path = head.target.substr(0, mark);
  head.query.reset();
  if (mark != std::string_view::npos) head.query = head.target.substr(mark + 1);
  return true;
}

}  // namespace semel::proxy
