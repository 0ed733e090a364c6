// The byte gate: the first code that sees a client's bytes, and the only one that decides what is a
// request. It must not allocate, repair or guess. The session calls it after every read.
#include "proxy/byte_gate.h"

#include <algorithm>
#include <array>

#include "core/header_rules.h"
#include "proxy/authority.h"
#include "proxy/head_lines.h"
#include "proxy/request_line.h"

namespace semel::proxy {
namespace {

/// Field names that Semel itself reads, on every route. No two are of one length, so that the
/// length of a name finds the only candidate.
enum class Known : std::uint8_t {
  No,
  Host,
  Expect,
  Upgrade,
  Connection,
  ContentType,
  Authorization,
  ContentLength,
  IdempotencyKey,
  ContentEncoding,
  TransferEncoding
};
struct KnownName {
  std::string_view text;
  Known known = Known::No;
};
constexpr std::array kKnownNames{
    KnownName{"Host", Known::Host},
    KnownName{"Expect", Known::Expect},
    KnownName{"Upgrade", Known::Upgrade},
    KnownName{"Connection", Known::Connection},
    KnownName{"Content-Type", Known::ContentType},
    KnownName{"Authorization", Known::Authorization},
    KnownName{"Content-Length", Known::ContentLength},
    KnownName{"Idempotency-Key", Known::IdempotencyKey},
    KnownName{"Content-Encoding", Known::ContentEncoding},
    KnownName{"Transfer-Encoding", Known::TransferEncoding},
};
constexpr std::size_t kKnownBytesMax = 17;

constexpr std::array<KnownName, kKnownBytesMax + 1> make_known_by_size() {
  std::array<KnownName, kKnownBytesMax + 1> table{};
  for (const KnownName& name : kKnownNames) table[name.text.size()] = name;
  return table;
}
constexpr auto kKnownBySize = make_known_by_size();

constexpr bool every_known_name_has_its_own_size() {
  return std::ranges::all_of(kKnownNames, [](const KnownName& name) {
    return kKnownBySize[name.text.size()].known == name.known;
  });
}
static_assert(every_known_name_has_its_own_size());

/// `name`, which is not empty, is Same as the known name of its length, a Twin of it, or Different
/// from all.
NameMatch match_known(std::string_view name, Known& known) {
  if (name.size() > kKnownBytesMax) return NameMatch::Different;
  const KnownName& candidate = kKnownBySize[name.size()];
  if (candidate.known == Known::No) return NameMatch::Different;
  known = candidate.known;
  return match_names(name, candidate.text);
}

/// Reads one head from the left. Every step says whether the next one may be taken.
class HeadReader {
 public:
  HeadReader(std::string_view buffer, const GateRules& rules, RequestHead& head)
      : buffer_(buffer), rules_(rules), head_(head) {}

  GateAnswer read() {
    head_.fields.clear();
    if (skip_empty_line() && read_start_line() && read_fields() && judge_head()) {
      head_.head_bytes = at_;
      return Passed::Yes;
    }
    if (is_incomplete_) return NeedMore{buffer_.size()};
    return refusal_;
  }

 private:
  bool refuse(ProblemType type, std::string_view reason) {
    refusal_ = {type, reason};
    return false;
  }
  bool bad(std::string_view reason) { return refuse(ProblemType::BadRequest, reason); }

  /// The buffer ends here. That is a refusal once the line or the head is over its limit.
  bool incomplete(std::size_t line_begin, ProblemType too_long) {
    if (buffer_.size() - line_begin > kLineBytesMax)
      return refuse(too_long, "a line is over 8 KiB");
    if (buffer_.size() >= kHeadBytesMax) {
      return refuse(ProblemType::HeadersTooLarge, "the head is over 32 KiB");
    }
    is_incomplete_ = true;
    return false;
  }

  /// One is ignored (RFC 9112 2.2): old clients send it behind a body.
  bool skip_empty_line() {
    if (buffer_.empty()) return incomplete(0, ProblemType::UriTooLong);
    if (buffer_[0] != '\r') return true;
    if (buffer_.size() == 1) return incomplete(0, ProblemType::UriTooLong);
    if (buffer_[1] != '\n') return bad("a line does not end with CR LF");
    at_ = 2;
    return true;
  }

  bool read_start_line() {
    const std::size_t line_begin = at_;
    switch (read_request_line(buffer_, at_, head_, refusal_)) {
      case Progress::Read:
        return true;
      case Progress::Incomplete:
        return incomplete(line_begin, ProblemType::UriTooLong);
      case Progress::Refused:
        return false;
    }
    return false;
  }

  bool read_fields() {
    HeaderField field;
    while (true) {
      const std::size_t line_begin = at_;
      const LineEnd end = read_field_line(buffer_, at_, field);
      if (end == LineEnd::EndOfHead) break;
      if (end == LineEnd::Incomplete) return incomplete(line_begin, ProblemType::HeadersTooLarge);
      if (end != LineEnd::Field) return bad(reason(end));
      if (at_ - 2 - line_begin > kLineBytesMax) {
        return refuse(ProblemType::HeadersTooLarge, "a header line is over 8 KiB");
      }
      if (!judge_field(field)) return false;
      if (!head_.fields.add(field)) {
        return refuse(ProblemType::HeadersTooLarge, "there are more than 100 header lines");
      }
    }
    return at_ <= kHeadBytesMax || refuse(ProblemType::HeadersTooLarge, "the head is over 32 KiB");
  }

  bool judge_field(const HeaderField& field) {
    Known known = Known::No;
    const NameMatch match = match_known(field.name, known);
    if (match == NameMatch::Twin) return bad("a header's name differs from a known one only by _");
    if (match == NameMatch::Same && !read_known(known, field.value)) return false;
    for (const std::string& read : rules_.headers_read) {
      switch (match_names(field.name, read)) {
        case NameMatch::Different:
          break;
        case NameMatch::Twin:
          return bad("a header's name differs from a known one only by _");
        case NameMatch::Same:
          if (has_field(field.name)) return bad("a header that identifies the call is repeated");
          break;
      }
    }
    return true;
  }

  [[nodiscard]] bool has_field(std::string_view name) const {
    return std::ranges::any_of(head_.fields.all(), [name](const HeaderField& field) {
      return same_name(field.name, name);
    });
  }

  bool once(bool& seen, std::string_view reason) {
    if (seen) return bad(reason);
    seen = true;
    return true;
  }

  bool read_known(Known known, std::string_view value) {
    switch (known) {
      case Known::Host:
        head_.host = value;
        if (!is_authority(value)) return bad("Host is no valid host and port");
        return once(has_host_, "Host is repeated");
      case Known::ContentType:
        return once(has_content_type_, "Content-Type is repeated");
      case Known::IdempotencyKey:
        return once(has_idempotency_key_, "Idempotency-Key is repeated");
      case Known::ContentLength:
        return once(has_length_, "Content-Length is repeated") && read_length(value);
      case Known::TransferEncoding:
        return once(has_coding_, "Transfer-Encoding is repeated") && read_coding(value);
      case Known::Connection:
        return read_connection(value);
      case Known::Expect:
        (same_name(value, "100-continue") ? expects_continue_ : expects_other_) = true;
        return true;
      case Known::Upgrade:
        has_upgrade_ = true;
        return true;
      case Known::Authorization:
      case Known::ContentEncoding:
      case Known::No:
        return true;
    }
    return true;
  }

  bool read_length(std::string_view value) {
    const auto length = parse_content_length(value);
    if (!length) return bad("Content-Length is no plain number");
    length_ = *length;
    return true;
  }

  bool read_coding(std::string_view value) {
    if (same_name(value, "chunked")) return true;
    if (!is_token(value)) return bad("Transfer-Encoding is not exactly chunked");
    return refuse(ProblemType::NotImplemented, "the transfer coding is not supported");
  }

  /// Naming a field that Semel reads would strip it behind our back (spec 10).
  bool read_connection(std::string_view value) {
    const bool is_list = add_connection_words(value, connection_, [this](std::string_view name) {
      Known known = Known::No;
      return match_known(name, known) == NameMatch::Different &&
             std::ranges::all_of(rules_.headers_read, [name](const std::string& read) {
               return match_names(name, read) == NameMatch::Different;
             });
    });
    return is_list || bad("Connection is no list of names, or names a header that is read here");
  }

  bool judge_head() {
    if (!has_host_) return bad("Host is missing");
    if (!rules_.authorities.empty() && !is_listed_authority(head_.host, rules_.authorities)) {
      return bad("Host is none that is served here");
    }
    if (!judge_target(rules_, head_, refusal_)) return false;
    if (has_coding_ && has_length_) return bad("Transfer-Encoding stands beside Content-Length");
    if (has_coding_ && head_.minor_version == 0) return bad("Transfer-Encoding stands in HTTP/1.0");
    head_.framing = Framing::None;
    if (has_length_) head_.framing = Framing::Length;
    if (has_coding_) head_.framing = Framing::Chunked;
    head_.content_length = length_;
    head_.keep_alive = connection_.persists(head_.minor_version);
    head_.names_hop_fields = connection_.others;
    // Expect and Upgrade mean nothing in HTTP/1.0 (RFC 9110 7.8, 10.1.1).
    const bool is_current = head_.minor_version == 1;
    head_.wants_upgrade = is_current && connection_.upgrade && has_upgrade_;
    head_.expects_other = is_current && expects_other_;
    head_.expects_continue = is_current && expects_continue_ && (has_coding_ || length_ > 0);
    return true;
  }

  std::string_view buffer_;
  const GateRules& rules_;
  RequestHead& head_;
  std::size_t at_ = 0;
  GateRefusal refusal_;
  ConnectionWords connection_;
  std::uint64_t length_ = 0;
  bool is_incomplete_ = false;
  bool has_host_ = false;
  bool has_content_type_ = false;
  bool has_idempotency_key_ = false;
  bool has_length_ = false;
  bool has_coding_ = false;
  bool has_upgrade_ = false;
  bool expects_continue_ = false;
  bool expects_other_ = false;
};

}  // namespace

GateAnswer read_request_head(std::string_view buffer, std::size_t scanned, const GateRules& rules,
                             RequestHead& head) {
  const bool is_resumed = scanned > 0 && scanned <= buffer.size();
  if (is_resumed && buffer.size() < kHeadBytesMax &&
      !is_worth_parsing(buffer, scanned, kLineBytesMax)) {
    return NeedMore{buffer.size()};
  }
  return HeadReader(buffer, rules, head).read();
}

}  // namespace semel::proxy
