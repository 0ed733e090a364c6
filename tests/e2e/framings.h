#pragma once

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/scripted_upstream.h"

namespace semel::testing {

/// How a tool says where its answer ends.
enum class Framing : std::uint8_t { Length, Chunked, ToTheEnd };
inline constexpr Framing kFramings[] = {Framing::Length, Framing::Chunked, Framing::ToTheEnd};

inline std::string_view name(Framing framing) {
  switch (framing) {
    case Framing::Length:
      return "with a length";
    case Framing::Chunked:
      return "chunked";
    case Framing::ToTheEnd:
      return "to the end of the connection";
  }
  return "unknown";
}

inline std::string framed_head(Framing framing, int status, std::size_t length,
                               const HeaderLines& headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Scripted\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  if (framing == Framing::Length) text += "Content-Length: " + std::to_string(length) + "\r\n";
  if (framing == Framing::Chunked) text += "Transfer-Encoding: chunked\r\n";
  return text + "\r\n";
}

inline std::string framed_piece(Framing framing, std::string_view bytes) {
  if (framing != Framing::Chunked || bytes.empty()) return std::string(bytes);
  std::array<char, 20> line{};
  std::snprintf(line.data(), line.size(), "%zx\r\n", bytes.size());
  return std::string(line.data()) + std::string(bytes) + "\r\n";
}

/// One answer in pieces: the head and the first at once, each further one at the test's next step,
/// then the end of the body. One step more than there are pieces lets it end.
struct Pieces {
  Framing framing = Framing::Length;
  HeaderLines headers = {{"Content-Type", "application/json"}};
  std::vector<std::string> bytes;
  int status = 200;

  [[nodiscard]] std::string body() const {
    std::string whole;
    for (const std::string& piece : bytes) whole += piece;
    return whole;
  }
};

/// The effect happens; the answer is sent step by step.
inline Script commits_and_sends_in_steps(Pieces pieces) {
  return [pieces = std::move(pieces)](Turn& turn) {
    turn.commit();
    turn.send(framed_head(pieces.framing, pieces.status, pieces.body().size(), pieces.headers));
    int step = 0;
    for (const std::string& piece : pieces.bytes) {
      if (step > 0) turn.wait_for_step(step);
      ++step;
      turn.send(framed_piece(pieces.framing, piece));
    }
    if (pieces.framing == Framing::Length) return;
    turn.wait_for_step(step);
    if (pieces.framing == Framing::Chunked) turn.send("0\r\n\r\n");
    if (pieces.framing == Framing::ToTheEnd) turn.finish();
  };
}

}  // namespace semel::testing
