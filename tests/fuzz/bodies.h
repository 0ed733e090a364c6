#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/check.h"
#include "proxy/body_framing.h"

namespace semel::fuzz {

/// One body as it was read, and what of the input it took.
struct TakenBody {
  proxy::BodyFraming::State end = proxy::BodyFraming::State::More;
  std::string data;
  std::size_t consumed = 0;  ///< Of no meaning where it is malformed.
  bool operator==(const TakenBody&) const = default;
};

/// Reads a body from an input that comes in pieces of that many bytes.
inline TakenBody take_body(proxy::BodyFraming framing, std::string_view input, std::size_t piece) {
  using State = proxy::BodyFraming::State;
  TakenBody body;
  std::size_t seen = 0;
  while (true) {
    const auto step = framing.take(input.substr(body.consumed, seen - body.consumed));
    SEMEL_CHECK(step.consumed <= seen - body.consumed);
    body.consumed += step.consumed;
    body.data += step.data;
    body.end = step.state;
    if (body.end == State::Malformed) body.consumed = 0;
    if (body.end != State::More) return body;
    if (step.consumed > 0) continue;
    if (seen == input.size()) return body;
    seen = std::min(seen + piece, input.size());
  }
}

/// What a careless server makes of chunks: sizes up to the first byte that is no digit, whatever
/// stands on the rest of the line left out, trailers skipped up to the first empty line.
/// @return Absent where even that finds no end.
inline std::optional<TakenBody> careless_chunks(std::string_view input) {
  TakenBody body;
  body.end = proxy::BodyFraming::State::Last;
  const auto take_line = [&]() -> std::optional<std::string_view> {
    const std::size_t end = input.find('\n', body.consumed);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = input.substr(body.consumed, end - body.consumed);
    body.consumed = end + 1;
    return line;
  };
  while (true) {
    const auto line = take_line();
    if (!line) return std::nullopt;
    std::size_t size = 0;
    for (const char c : *line) {
      const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      if (digit == std::string_view::npos) break;
      size = size * 16 + (digit < 16 ? digit : digit - 6);
    }
    if (size == 0) break;
    if (size > input.size() - body.consumed) return std::nullopt;
    body.data += input.substr(body.consumed, size);
    body.consumed += size;
    if (!take_line()) return std::nullopt;
  }
  while (true) {
    const auto line = take_line();
    if (!line) return std::nullopt;
    if (line->empty() || *line == "\r") return body;
  }
}

/// A body ends in one place only, however it comes in and however carelessly its chunks are read.
inline TakenBody check_body(const proxy::BodyFraming& framing, bool chunked,
                            std::string_view input) {
  const TakenBody body = take_body(framing, input, input.size() + 1);
  SEMEL_CHECK(take_body(framing, input, 1) == body);
  if (chunked && body.end == proxy::BodyFraming::State::Last) {
    SEMEL_CHECK(careless_chunks(input) == body);
  }
  return body;
}

}  // namespace semel::fuzz
