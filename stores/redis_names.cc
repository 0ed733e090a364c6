#include "stores/redis_names.h"

namespace semel {

std::vector<std::string> RedisNames::own() const {
  std::vector<std::string> names;
  names.reserve(9);
  for (const char end : {'m', 'o', 'd', 'f', 'u', 's', 'e', 'p'}) names.push_back(tag_ + end);
  return names;
}

std::vector<std::string> RedisNames::with(const IdempotencyKey& key) const {
  auto names = own();
  names.push_back(records() + raw(key));
  return names;
}

std::vector<std::string> RedisNames::with_postponed() const {
  auto names = own();
  names.push_back(tag_ + 'c');
  return names;
}

std::size_t redis_lane(const IdempotencyKey& key, std::size_t lanes) {
  return key.bytes[0] % lanes;
}

}  // namespace semel
