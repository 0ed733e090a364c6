// From a request to its key. Pure: the same request on the same route gives the same key on every
// replica, for ever. Called by proxy/exchange before anything is claimed or sent.

#include "core/key.h"

#include <utility>

#include "core/key_encoding.h"
#include "core/key_parts.h"

namespace semel {
namespace {

/// What deriving a key needs and keeps from one request to the next, so that it allocates little.
struct Workbench {
  ValueTape tape;
  KeyParts parts;
  Sha256 hasher;
};

Workbench& workbench() {
  thread_local Workbench bench;
  return bench;
}

}  // namespace

std::string_view name(KeySource source) {
  switch (source) {
    case KeySource::Derived:
      return "derived";
    case KeySource::Client:
      return "client";
  }
  return "derived";
}

std::variant<DerivedKey, KeyRefusal> derive_key(const KeyInputs& inputs) {
  Workbench& bench = workbench();
  if (auto refusal = gather(inputs, bench.tape, bench.parts)) return *std::move(refusal);
  return digest_key(inputs, bench.parts, bench.tape, bench.hasher, nullptr);
}

}  // namespace semel
