#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace semel::fuzz {

/// The fuzzer's bytes as a row of choices. Once they are used up every throw is 0, so that a target
/// takes its plainest choice there and always ends.
class Dice {
 public:
  explicit Dice(std::string_view bytes) : bytes_(bytes) {}

  /// @return 0 to `sides - 1`. @param sides  1 to 256.
  std::size_t roll(std::size_t sides) {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte % sides;
  }
  /// True about once in `sides` throws; never once the bytes are used up.
  bool happens(std::size_t sides) { return roll(sides) == sides - 1; }
  [[nodiscard]] bool is_empty() const { return bytes_.empty(); }
  /// The bytes that no throw has used.
  [[nodiscard]] std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace semel::fuzz
