#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/claim.h"

namespace semel {

/// What the keys of one lane are called: all contain its tag, so that they live together.
/// @source docs/record-format.md, "In Redis".
class RedisNames {
 public:
  explicit RedisNames(std::string tag) : tag_(std::move(tag)) {}

  /// The lane's own keys, in the order of stores/redis/clock.lua.
  [[nodiscard]] std::vector<std::string> own() const;
  /// Those and the record of a key.
  [[nodiscard]] std::vector<std::string> with(const IdempotencyKey& key) const;
  /// Those and what the sweep puts off.
  [[nodiscard]] std::vector<std::string> with_postponed() const;
  [[nodiscard]] std::string marker() const { return tag_ + 'm'; }
  /// What the name of every record begins with.
  [[nodiscard]] std::string records() const { return tag_ + 'r'; }

 private:
  std::string tag_;
};

/// Which lane a key lives in.
[[nodiscard]] std::size_t redis_lane(const IdempotencyKey& key, std::size_t lanes);

/// Where each process hears of claims that have ended.
inline constexpr char kWokenChannel[] = "semel:woken";

/// The 16 or 32 bytes of an id, as they go over the wire.
template <class Id>
[[nodiscard]] std::string raw(const Id& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

}  // namespace semel
