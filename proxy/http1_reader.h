#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "proxy/byte_gate.h"
#include "proxy/message.h"

namespace semel::proxy {

/// Why an upstream's bytes are no well-formed response: `Unanswered`.
struct MalformedResponse {
  std::string_view reason;
};
/// A 1xx was read: drop `head_bytes` and read on. A 101 never is one.
struct Interim {
  std::size_t head_bytes = 0;
};
/// Whether the request asked for a change of protocols. Only then is a 101 an answer, and a final
/// one.
enum class UpgradeAsked : std::uint8_t { No, Yes };
using ResponseAnswer = std::variant<Passed, NeedMore, Interim, MalformedResponse>;

/// Reads one response head from the start of `buffer`, as strictly as the byte gate (spec 7): two
/// Content-Lengths, CL with TE, a coding other than `chunked`, status outside 100-599, bare CR or
/// LF, obs-fold, bad names, NUL are malformed, as are more than 100 fields and a head over 32 KiB;
/// a single line may be as long as the head. `request_method` decides about the body (HEAD; 204,
/// 304). A reason phrase may be missing, with or without the space before it: real servers do so.
/// @return Passed with `head` filled, or with status 101 and UntilClose where an upgrade was asked
/// for.
/// @owns `head` views into `buffer`.
/// @source RFC 9112 4-7, 9.3; spec 7.
[[nodiscard]] ResponseAnswer read_response_head(std::string_view buffer, std::size_t scanned,
                                                std::string_view request_method, ResponseHead& head,
                                                UpgradeAsked upgrade = UpgradeAsked::No);

/// Takes the chunked coding off a stream of bytes, incrementally, in place. Sizes of at most 16 hex
/// digits, strict CRLF, well-formed extensions dropped (at most 4 KiB a message), trailers read,
/// bounded (8 KiB) and dropped.
class ChunkDecoder {
 public:
  enum class State : std::uint8_t { More, Done, Malformed };
  struct Step {
    State state = State::More;
    std::size_t consumed = 0;  ///< Of the input; what lies behind the end of the message is not.
    std::string_view data;     ///< Decoded bytes: one contiguous piece of the input, may be empty.
  };
  /// Consumes up to one piece of data. Call until `consumed` is 0 and `data` is empty, or not More.
  [[nodiscard]] Step next(std::string_view input);
  void reset() { *this = ChunkDecoder{}; }

 private:
  enum class At : std::uint8_t {
    Size,
    AfterSize,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    Trailer,
    TrailerLf,
    EndLf,
    Done,
    Bad
  };
  [[nodiscard]] At take(char c);
  [[nodiscard]] At take_size(char c);
  [[nodiscard]] At take_extension(char c);
  [[nodiscard]] At take_trailer(char c);

  At at_ = At::Size;
  std::uint64_t left_ = 0;
  std::uint32_t digits_ = 0;
  std::uint32_t extension_bytes_ = 0;
  std::uint32_t trailer_bytes_ = 0;
  std::uint8_t grammar_ = 0;  ///< Where in an extension or a trailer line the next byte stands.
};

}  // namespace semel::proxy
