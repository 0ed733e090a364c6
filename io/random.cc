#include "io/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

#include "core/check.h"

namespace semel {

void RandomBits::fill(std::uint8_t* bytes, std::size_t size) {
  SEMEL_CHECK(size <= page_.size());
  if (page_.size() - used_ < size) {
    std::size_t have = 0;
    while (have < page_.size()) {
      const auto got = getrandom(page_.data() + have, page_.size() - have, 0);
      SEMEL_CHECK(got > 0 || errno == EINTR);
      if (got > 0) have += static_cast<std::size_t>(got);
    }
    used_ = 0;
  }
  std::memcpy(bytes, page_.data() + used_, size);
  std::memset(page_.data() + used_, 0, size);
  used_ += size;
}

std::uint64_t RandomBits::number() {
  std::uint64_t value = 0;
  std::uint8_t bytes[sizeof value];
  fill(bytes, sizeof bytes);
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

}  // namespace semel
