#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/claim.h"
#include "core/header_field.h"
#include "core/problem.h"
#include "core/route_table.h"

namespace semel {

/// Whether the key came from the request's content or from the client's own header.
enum class KeySource : std::uint8_t { Derived, Client };
[[nodiscard]] std::string_view name(KeySource source);

/// The client certificate's names, where TLS was used. Empty views where absent.
struct TlsIdentity {
  std::string_view subject;
  std::string_view uri;
  std::string_view dns;
};

/// Everything of a request that a key may be derived from.
/// @owns Views into the connection's buffer, valid while `derive_key` runs.
struct KeyInputs {
  std::string_view method;
  const NormalPath* path = nullptr;
  const RouteMatch* match = nullptr;
  std::optional<std::string_view> query;  ///< After the `?`, raw. Absent: no `?`.
  std::span<const HeaderField> headers;
  std::string_view body;
  TlsIdentity tls;
};

struct DerivedKey {
  IdempotencyKey key;
  KeySource source = KeySource::Derived;
  Bindings bindings;
  std::string tenant;      ///< Decoded bytes, for `list` and `forget`.
  std::string client_key;  ///< The client's own value without quotes; empty if none sent.
};

/// A request that cannot be keyed: the problem and one sentence that names the source or the place.
struct KeyRefusal {
  ProblemType type = ProblemType::KeyUnderivable;
  std::string detail;
};

/// Derives the key of one request on a keyed route. Reads the named sources only, canonicalises
/// them into the hasher and forgets them.
/// @return KeyMissing, KeyMalformed, KeyUnderivable, BodyAmbiguous, ContentType or BadRequest where
///         spec 5 or 10 refuses; nothing may then be sent.
/// @source spec 5; docs/key-format.md.
[[nodiscard]] std::variant<DerivedKey, KeyRefusal> derive_key(const KeyInputs& inputs);

/// The same with every step laid open, for `semel explain`.
struct KeyExplanation {
  std::string kind;  ///< `derived` or `client`.
  std::string tenant;
  std::optional<std::string> run;
  std::string operation;
  std::string method;
  std::vector<std::string> path;  ///< Decoded segments, or the pattern where `path: route`.
  /// Source text (`body /flight`, `header X-Run-Id`, `whole body`) and its canonical JSON or hex.
  std::vector<std::pair<std::string, std::string>> arguments;
  std::vector<std::pair<std::string, std::string>>
      bindings;               ///< guards, caller, fingerprint: hex digests.
  std::string canonical_hex;  ///< The exact bytes that are hashed, lower-case hex.
  DerivedKey derived;
};
[[nodiscard]] std::variant<KeyExplanation, KeyRefusal> explain_key(const KeyInputs& inputs);

}  // namespace semel
