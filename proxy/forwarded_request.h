#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/claim.h"
#include "core/route.h"
#include "proxy/message.h"

namespace semel::proxy {

/// The request as the upstream sees it: rebuilt from checked parts, never copied (spec 10).
/// @owns Views into the client's head and the exchange; rendered anew for each attempt.
struct ForwardedRequest {
  const RequestHead* head = nullptr;
  const Route* route = nullptr;
  std::string_view path;  ///< Normalised.
  std::string_view client_address;
  std::string_view trace_parent;  ///< Complete value; the client's own or ours.
  /// How the body goes: its length, or chunked where it streams without one.
  std::optional<std::uint64_t> body_length;
  bool has_body = false;
  std::string_view key_hex;     ///< 64 hex digits on guarded routes; empty elsewhere.
  std::string_view client_key;  ///< Without quotes; empty if the client sent none.
  Fence fence;

  /// @param authority  The endpoint's, for the Host header.
  void render(std::string& out, std::string_view authority) const;
};

/// True if the client's traceparent is well formed (W3C Trace Context 3.2).
[[nodiscard]] bool is_trace_parent(std::string_view value);

}  // namespace semel::proxy
