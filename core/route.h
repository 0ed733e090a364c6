#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/policy.h"

namespace semel {

/// Where one component of a key comes from (spec 4, "value source").
struct ValueSource {
  enum class From : std::uint8_t {
    Header,               ///< `text` is the header's name.
    PathParam,            ///< `text` is the {param}'s name.
    Query,                ///< `text` is the query parameter's name, form-decoded.
    Body,                 ///< `text` is a JSON Pointer (RFC 6901) into the body.
    Constant,             ///< `text` is the value itself.
    TlsSubject,           ///< The client certificate's subject.
    TlsUri,               ///< Its first URI alternative name.
    TlsDns,               ///< Its first DNS alternative name.
    AuthorizationDigest,  ///< SHA-256 of the Authorization header.
  };
  From from = From::Constant;
  std::string text;
  bool stable = false;  ///< The operator's word that a suspicious source outlives a retry.
  bool operator==(const ValueSource&) const = default;
};

enum class PathInKey : std::uint8_t { Concrete, Route };
enum class ClientKey : std::uint8_t { Ignore, Optional, Required };
enum class OnDuplicate : std::uint8_t { Wait, Reject };
enum class OnStoreDown : std::uint8_t { Refuse, Forward };
enum class Mode : std::uint8_t { Enforce, Shadow, Off };

/// Which parts of a request identify its effect (spec 4 and 5).
struct KeyRecipe {
  std::optional<ValueSource> tenant;  ///< Always present on keyed routes once loaded.
  std::optional<ValueSource> run;     ///< Absent: the operator said `none`.
  std::vector<ValueSource> fields;    ///< A set. Empty: the whole request counts.
  PathInKey path = PathInKey::Concrete;
  std::vector<ValueSource> guards;
  std::optional<ValueSource> caller;  ///< Absent: the tenant may see it.
  ClientKey client_key = ClientKey::Ignore;
  bool operator==(const KeyRecipe&) const = default;
};

/// One segment of a route's pattern.
struct PatternSegment {
  enum class Kind : std::uint8_t { Literal, Param, Rest };
  Kind kind = Kind::Literal;
  std::string text;  ///< Literal: decoded bytes. Param: the name. Rest: empty, only the last.
  bool operator==(const PatternSegment&) const = default;
};

/// READ_ONLY and IDEMPOTENT only.
struct RetryRules {
  int attempts = 3;  ///< In all, the first one included.
  std::chrono::milliseconds backoff{100};
  int budget_percent = 20;  ///< How much of a retry each request of this route earns.
  bool on_connect = true;
  bool on_reset = true;
  std::vector<std::uint16_t> on_status{502, 503, 504};
};

/// Set of HTTP status codes, 100-599.
using StatusSet = std::bitset<600>;

struct RecordRules {
  std::size_t body_bytes_max = 1024 * 1024;
  bool keep_body = true;
  StatusSet release_on;
  StatusSet indeterminate_on;
};

/// The key that goes upstream.
struct ForwardKey {
  enum class Value : std::uint8_t { Off, Derived, Client };
  Value value = Value::Derived;
  std::string header = "Idempotency-Key";
  bool quoted = false;
  bool fence = false;  ///< Adds `Semel-Fence`.
};

struct Route;

/// One row of the route table, complete: every default is filled in by the configuration.
struct Route {
  std::string name;                  ///< Also the operation's name in the key.
  std::vector<std::string> methods;  ///< Upper case as configured; empty: any method.
  std::string pattern;               ///< As written.
  std::vector<PatternSegment> segments;
  std::size_t upstream = 0;  ///< Index into the configuration's upstreams.
  std::string upstream_name;
  Policy policy = Policy::None;
  Mode mode = Mode::Enforce;
  KeyRecipe key;
  OnDuplicate on_duplicate = OnDuplicate::Wait;
  OnStoreDown on_store_down = OnStoreDown::Refuse;
  std::chrono::milliseconds wait{25'000};
  std::chrono::milliseconds dispatch_by{3'000};
  std::chrono::milliseconds timeout{30'000};
  std::chrono::milliseconds stream_timeout{30'000};
  std::chrono::milliseconds settle{60'000};
  std::chrono::milliseconds lease_margin{2'000};
  std::chrono::seconds retention{86'400};
  std::optional<std::chrono::seconds> indeterminate_retention;  ///< Absent: never.
  std::optional<std::chrono::seconds> redelivery_horizon;
  RecordRules record;
  ForwardKey forward_key;
  RetryRules retry;
  std::vector<std::string> replay_headers_add;  ///< Names stored although the deny list has them.
  std::vector<std::string> replay_headers_remove;    ///< Names never stored.
  std::size_t request_body_bytes_max = 1024 * 1024;  ///< Keyed routes only: others stream.
  std::vector<std::string> allow_escapes;
  bool keep_host = false;
  bool upgrade = false;
  std::optional<int> key_version;
  /// This route as it made keys before its key version was raised, youngest first: name, pattern,
  /// recipe and version. What stands under those keys still counts. Told by the store.
  std::vector<std::shared_ptr<const Route>> earlier;
  std::string file;  ///< Where it was configured, for `check` and `explain`.
  int line = 0;

  /// How long before a silent holder counts as gone.
  [[nodiscard]] std::chrono::milliseconds lease() const {
    return dispatch_by + timeout + stream_timeout + settle + lease_margin;
  }
  /// Keyed and enforced or shadowed: a request on it gets a key.
  [[nodiscard]] bool is_guarded() const { return is_keyed(policy) && mode != Mode::Off; }
  /// Keyed, and its duplicates are held, replayed or refused.
  [[nodiscard]] bool is_enforced() const { return is_keyed(policy) && mode == Mode::Enforce; }
};

}  // namespace semel
