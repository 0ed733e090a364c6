#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "core/digest.h"
#include "stores/store.h"

namespace semel::bench {

/// One call as a store sees it: a claim, and the answer that ends it.
struct Round {
  ClaimRequest request;
  StoredResponsePtr response;
};

template <class Id>
Id id_of(std::uint64_t number) {
  const Sha256Bytes digest = sha256({reinterpret_cast<const char*>(&number), sizeof number});
  Id id;
  std::memcpy(id.bytes.data(), digest.data(), id.bytes.size());
  return id;
}

/// Round `number`, always the same: an answer of 300 bytes with 5 header lines.
inline Round round_of(std::uint64_t number, std::chrono::seconds retention) {
  using namespace std::chrono_literals;
  Round round;
  round.request.key = id_of<IdempotencyKey>(number);
  round.request.token = id_of<ClaimToken>(number + (1ull << 40));
  round.request.reference = id_of<Reference>(number + (1ull << 41));
  round.request.bindings.caller.bytes[0] = 1;
  round.request.tenant = "tenant-" + std::to_string(number % 100);
  round.request.route = "book";
  round.request.lease = std::min<std::chrono::milliseconds>(60s, retention / 2);
  round.request.retention = retention;
  auto response = std::make_shared<StoredResponse>();
  response->status = 200;
  response->fields = {{"Content-Type", "application/json"},
                      {"Date", "Mon, 30 Nov 2026 15:37:48 GMT"},
                      {"Server", "tool"},
                      {"X-Request-Id", "7f3c1a9e"},
                      {"Cache-Control", "no-store"}};
  response->body.assign(300, 'x');
  round.response = std::move(response);
  return round;
}

}  // namespace semel::bench
