// Response heads of upstreams, read as strictly as the byte gate reads clients: what is not
// well-formed is no answer, and an EFFECTFUL call without an answer is indeterminate. Must not
// guess or repair.
#include "proxy/http1_reader.h"

#include "core/header_rules.h"
#include "proxy/byte_classes.h"
#include "proxy/head_lines.h"

namespace semel::proxy {
namespace {

/// Reads one head from the left. Every step says whether the next one may be taken.
class HeadReader {
 public:
  HeadReader(std::string_view buffer, ResponseHead& head) : buffer_(buffer), head_(head) {}

  ResponseAnswer read(std::string_view request_method, UpgradeAsked upgrade) {
    head_.fields.clear();
    if (!read_status_line() || !read_fields()) {
      if (is_incomplete_) return NeedMore{buffer_.size()};
      return MalformedResponse{reason_};
    }
    head_.head_bytes = at_;
    if (head_.status == 101) {
      if (upgrade == UpgradeAsked::No || head_.minor_version == 0) {
        return MalformedResponse{"101 without an upgrade"};
      }
      frame(Framing::UntilClose);
      return Passed::Yes;
    }
    if (head_.status < 200) return Interim{at_};
    if (!judge_framing(request_method)) return MalformedResponse{reason_};
    return Passed::Yes;
  }

 private:
  bool bad(std::string_view reason) {
    reason_ = reason;
    return false;
  }
  bool incomplete() {
    if (buffer_.size() >= kHeadBytesMax) return bad("the head is over 32 KiB");
    is_incomplete_ = true;
    return false;
  }

  /// `HTTP/1.1 200 OK`, `HTTP/1.1 200 ` or `HTTP/1.1 200` (RFC 9112 4).
  bool read_status_line() {
    constexpr std::string_view kPattern = "HTTP/1.1 000";  // 0 stands for any digit
    constexpr std::size_t kReasonAt = kPattern.size();
    for (std::size_t i = 0; i < kReasonAt; ++i) {
      if (i == buffer_.size()) return incomplete();
      const char c = buffer_[i];
      const bool is_digit = c >= '0' && c <= '9';
      const bool fits = i == 7 ? c == '0' || c == '1' : i > 8 ? is_digit : c == kPattern[i];
      if (!fits) return bad("the status line is not HTTP/1.x and three digits");
    }
    head_.minor_version = buffer_[7] - '0';
    head_.status = static_cast<std::uint16_t>((buffer_[9] - '0') * 100 + (buffer_[10] - '0') * 10 +
                                              (buffer_[11] - '0'));
    if (head_.status < 100 || head_.status > 599) return bad("the status is outside 100-599");
    std::size_t end = kReasonAt;
    while (end < buffer_.size() && is_any_of(buffer_[end], kTextByte)) ++end;
    if (end > kReasonAt && buffer_[kReasonAt] != ' ') return bad("no space before the reason");
    if (buffer_.size() - end < 2) {
      return end == buffer_.size() || buffer_[end] == '\r' ? incomplete() : bad("bare LF");
    }
    if (buffer_[end] != '\r' || buffer_[end + 1] != '\n') {
      return bad("the status line does not end with CR LF");
    }
    head_.reason = end > kReasonAt ? buffer_.substr(kReasonAt + 1, end - kReasonAt - 1) : "";
    at_ = end + 2;
    return true;
  }

  bool read_fields() {
    HeaderField field;
    while (true) {
      const LineEnd end = read_field_line(buffer_, at_, field);
      if (end == LineEnd::EndOfHead) break;
      if (end == LineEnd::Incomplete) return incomplete();
      if (end != LineEnd::Field) return bad(reason(end));
      if (!read_known(field)) return false;
      if (!head_.fields.add(field)) return bad("there are more than 100 header lines");
    }
    return at_ <= kHeadBytesMax || bad("the head is over 32 KiB");
  }

  bool read_known(const HeaderField& field) {
    switch (field.name.size()) {
      case 10:
        if (!same_name(field.name, "Connection")) return true;
        return add_connection_words(field.value, connection_, [](auto) { return true; }) ||
               bad("Connection is no list of names");
      case 14:
        if (!same_name(field.name, "Content-Length")) return true;
        if (length_) return bad("Content-Length is repeated");
        length_ = parse_content_length(field.value);
        return length_ || bad("Content-Length is no plain number");
      case 17:
        if (!same_name(field.name, "Transfer-Encoding")) return true;
        if (is_chunked_) return bad("Transfer-Encoding is repeated");
        is_chunked_ = same_name(field.value, "chunked");
        return is_chunked_ || bad("Transfer-Encoding is not exactly chunked");
      default:
        return true;
    }
  }

  void frame(Framing framing) {
    head_.framing = framing;
    head_.content_length = length_.value_or(0);
    head_.names_hop_fields = connection_.others;
    head_.keep_alive = framing != Framing::UntilClose && connection_.persists(head_.minor_version);
  }

  /// RFC 9112 6.3, with a refusal wherever it leaves a choice.
  bool judge_framing(std::string_view request_method) {
    if (is_chunked_ && length_) return bad("Transfer-Encoding stands beside Content-Length");
    if (is_chunked_ && head_.minor_version == 0) return bad("Transfer-Encoding in HTTP/1.0");
    if (request_method == "HEAD" || head_.status == 304) {
      frame(Framing::None);
    } else if (head_.status == 204) {
      frame(Framing::None);
      // RFC 9110 8.6 forbids both: whoever announces a body may send one, so nothing follows here.
      if (is_chunked_ || head_.content_length > 0) head_.keep_alive = false;
    } else if (is_chunked_) {
      frame(Framing::Chunked);
    } else {
      frame(length_ ? Framing::Length : Framing::UntilClose);
    }
    return true;
  }

  std::string_view buffer_;
  ResponseHead& head_;
  std::size_t at_ = 0;
  std::string_view reason_;
  ConnectionWords connection_;
  std::optional<std::uint64_t> length_;
  bool is_chunked_ = false;
  bool is_incomplete_ = false;
};

}  // namespace

ResponseAnswer read_response_head(std::string_view buffer, std::size_t scanned,
                                  std::string_view request_method, ResponseHead& head,
                                  UpgradeAsked upgrade) {
  const bool is_resumed = scanned > 0 && scanned <= buffer.size();
  if (is_resumed && buffer.size() < kHeadBytesMax &&
      !is_worth_parsing(buffer, scanned, kHeadBytesMax)) {
    return NeedMore{buffer.size()};
  }
  return HeadReader(buffer, head).read(request_method, upgrade);
}

}  // namespace semel::proxy
