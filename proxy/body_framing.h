#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "proxy/http1_reader.h"
#include "proxy/message.h"

namespace semel::proxy {

/// Takes the framing off one body, request or response, wherever its bytes come from.
class BodyFraming {
 public:
  enum class State : std::uint8_t {
    More,       ///< Give it more bytes.
    Last,       ///< The body is whole.
    Malformed,  ///< Its chunks are no chunks.
  };
  struct Step {
    State state = State::More;
    std::size_t consumed = 0;
    std::string_view data;  ///< Views into the input.
  };

  BodyFraming() = default;
  BodyFraming(Framing framing, std::uint64_t length) : framing_(framing), left_(length) {
    if (framing_ == Framing::Length && left_ == 0) framing_ = Framing::None;
  }

  /// The next piece of `input`. More without data and without `consumed`: nothing can be done with
  /// it.
  [[nodiscard]] Step take(std::string_view input) {
    switch (framing_) {
      case Framing::None:
        return {State::Last, 0, {}};
      case Framing::Length: {
        const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size()));
        left_ -= bytes;
        return {left_ == 0 ? State::Last : State::More, bytes, input.substr(0, bytes)};
      }
      case Framing::UntilClose:
        return {State::More, input.size(), input};
      case Framing::Chunked: {
        const ChunkDecoder::Step step = chunks_.next(input);
        const State state = step.state == ChunkDecoder::State::Done        ? State::Last
                            : step.state == ChunkDecoder::State::Malformed ? State::Malformed
                                                                           : State::More;
        return {state, step.consumed, step.data};
      }
    }
    return {State::Malformed, 0, {}};
  }
  /// True where the end of the stream is the end of the body.
  [[nodiscard]] bool ends_at_close() const { return framing_ == Framing::UntilClose; }

 private:
  Framing framing_ = Framing::None;
  std::uint64_t left_ = 0;
  ChunkDecoder chunks_;
};

}  // namespace semel::proxy
