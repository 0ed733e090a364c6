#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/socket.h"

namespace semel::testing {

/// One header line, name in the sender's case.
using HeaderLine = std::pair<std::string, std::string>;
using HeaderLines = std::vector<HeaderLine>;

/// Lines of that name, any case, in order.
[[nodiscard]] std::vector<std::string> values_of(const HeaderLines& lines, std::string_view name);

/// A request as a client writes it. `Host` and `Content-Length` are added where absent.
struct Request {
  std::string method = "POST";
  std::string target;
  HeaderLines headers;
  std::string body;
};
[[nodiscard]] std::string text_of(const Request& request);

/// How the reading of one response ended.
enum class ReadEnd : std::uint8_t {
  Complete,   ///< Well-formed, to its last byte.
  Cut,        ///< The connection ended too early.
  Malformed,  ///< Not the HTTP/1.1 that a strict reader takes; see `reason`.
  TimedOut,   ///< Too slow.
};
[[nodiscard]] std::string_view name(ReadEnd end);

/// One response as a strict client sees it.
struct Response {
  ReadEnd end = ReadEnd::Cut;
  std::string reason;  ///< Why it is malformed, else the reason phrase.
  int status = 0;
  HeaderLines headers;
  std::string body;  ///< Without the chunked coding.
  bool is_chunked = false;
  std::vector<int> interim;  ///< Status codes of 1xx answers before this one.

  [[nodiscard]] bool is_complete() const { return end == ReadEnd::Complete; }
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;
  /// The only line of that name; absent if there is none. Repeats are joined with `|`, so that an
  /// unexpected second line fails the comparison.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const;
};

/// Bytes of a connection that were read and not used yet, and where more come from.
class MessageReader {
 public:
  explicit MessageReader(const Socket& socket, int wake_fd = -1)
      : socket_(socket), wake_fd_(wake_fd) {}

  /// Reads up to and including the empty line. @return false if it did not come whole.
  bool read_head(std::string& head, Deadline deadline);
  /// Reads exactly `size` bytes and appends them.
  bool read_exactly(std::size_t size, std::string& into, Deadline deadline);
  /// Takes the chunked coding off, trailers dropped. @return false if it is cut or malformed.
  bool read_chunked(std::string& into, Deadline deadline);
  /// Reads until the peer's FIN. @return false on RST or at the deadline.
  bool read_to_end(std::string& into, Deadline deadline);
  /// Waits until `text` stands in the unread bytes, which stay unread.
  bool wait_for(std::string_view text, Deadline deadline);

  /// Why the last read ended, where it returned false.
  [[nodiscard]] Incoming last() const { return last_; }
  [[nodiscard]] const std::string& unread() const { return buffer_; }

 private:
  bool more(Deadline deadline);
  bool read_line(std::string& line, Deadline deadline);

  const Socket& socket_;
  int wake_fd_;
  std::string buffer_;
  Incoming last_ = Incoming::Bytes;
};

/// Splits a head into its start line and header lines, strictly: CRLF, no folding, no space before
/// the colon, no control characters. @return why not, or an empty text.
[[nodiscard]] std::string split_head(std::string_view head, std::string& start_line,
                                     HeaderLines& lines);

/// Reads one final response; 1xx are collected. `method` decides whether HEAD has a body.
[[nodiscard]] Response read_response(MessageReader& reader, std::string_view method,
                                     Deadline deadline);

}  // namespace semel::testing
