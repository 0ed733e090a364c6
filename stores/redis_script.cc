#include "stores/redis_script.h"

#include "core/sha1.h"

namespace semel {

RedisScript::RedisScript(std::string_view text) : text_(text), sha1_(sha1_hex(text)) {}

}  // namespace semel
