// Whatever a server sends: the reader ends with replies or with a refusal, never with more than
// came, and the same whether it comes at once or byte by byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.h"
#include "stores/redis_refusal.h"
#include "stores/redis_reply.h"
#include "stores/redis_topology.h"

namespace semel {
namespace {

void print(const RedisReply& reply, std::string& out) {
  out += static_cast<char>('0' + static_cast<int>(reply.kind));
  out += std::to_string(reply.integer) + '|' + reply.text + '[';
  for (const RedisReply& item : reply.items) print(item, out);
  out += ']';
}

struct Outcome {
  std::string replies;
  bool is_broken = false;
  bool operator==(const Outcome&) const = default;
};

Outcome read(std::string_view bytes, std::size_t piece) {
  RedisReader reader;
  Outcome outcome;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(bytes.substr(at, piece));
    while (const auto reply = reader.next()) {
      print(*reply, outcome.replies);
      static_cast<void>(refusal_of(*reply));
      static_cast<void>(redirect_of(*reply, Peer{"asked", 1, ""}));
      for (const RedisSlots& slots : read_redis_slots(*reply, Peer{"asked", 1, ""})) {
        SEMEL_CHECK(slots.first <= slots.last && slots.last < 16'384);
      }
    }
  }
  outcome.is_broken = reader.is_broken();
  return outcome;
}

}  // namespace
}  // namespace semel

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto whole = semel::read(text, size == 0 ? 1 : size);
  SEMEL_CHECK(whole == semel::read(text, 1));
  SEMEL_CHECK(whole == semel::read(text, 7));
  return 0;
}
