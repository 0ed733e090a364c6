#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "core/normal_path.h"
#include "core/problem.h"
#include "proxy/byte_gate.h"
#include "proxy/http1_reader.h"

namespace semel::testing {

/// How taking the chunked coding off `rest` ends: `accept`, `malformed` or `cut`. Takes the message
/// off `rest`, and adds its body to `body`.
inline std::string decode_chunks(std::string_view& rest, std::string& body) {
  proxy::ChunkDecoder decoder;
  while (true) {
    const proxy::ChunkDecoder::Step step = decoder.next(rest);
    rest.remove_prefix(step.consumed);
    body += step.data;
    if (step.state == proxy::ChunkDecoder::State::Done) return "accept";
    if (step.state == proxy::ChunkDecoder::State::Malformed) return "malformed";
    if (step.consumed == 0) return "cut";
  }
}

/// Takes one request off `rest` as the session would, with path and body: `accept`, `cut` where it
/// ends too early, or the status of the refusal.
inline std::string judge_request(std::string_view& rest, const proxy::GateRules& rules,
                                 proxy::RequestHead& head) {
  const proxy::GateAnswer answer = proxy::read_request_head(rest, 0, rules, head);
  if (const auto* refusal = std::get_if<proxy::GateRefusal>(&answer)) {
    return std::to_string(row(refusal->type).status);
  }
  if (std::holds_alternative<proxy::NeedMore>(answer)) return "cut";
  rest.remove_prefix(head.head_bytes);
  if (head.target != "*" &&
      std::holds_alternative<PathRefusal>(normalise_path(head.path, /*loose=*/false))) {
    return "400";
  }
  std::string body;
  if (head.framing == proxy::Framing::Chunked) {
    const std::string end = decode_chunks(rest, body);
    return end == "malformed" ? "400" : end;
  }
  if (head.framing == proxy::Framing::Length) {
    if (rest.size() < head.content_length) return "cut";
    rest.remove_prefix(static_cast<std::size_t>(head.content_length));
  }
  return "accept";
}

/// All requests of one connection, their verdicts with spaces between, until one ends it.
inline std::string judge_connection(std::string_view bytes, const proxy::GateRules& rules) {
  std::string verdicts;
  proxy::RequestHead head;
  do {
    const std::string verdict = judge_request(bytes, rules, head);
    verdicts += (verdicts.empty() ? "" : " ") + verdict;
    if (verdict != "accept" || !head.keep_alive) return verdicts;
  } while (!bytes.empty());
  return verdicts;
}

}  // namespace semel::testing
