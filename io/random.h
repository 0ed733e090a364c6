#pragma once

#include <array>
#include <cstdint>

#include "core/claim.h"

namespace semel {

/// Random bits of the kernel, drawn by the page: a system call per id would cost more than the id.
/// @thread One worker's.
class RandomBits {
 public:
  template <class Tag>
  [[nodiscard]] Random128<Tag> draw() {
    Random128<Tag> id;
    fill(id.bytes.data(), id.bytes.size());
    return id;
  }
  [[nodiscard]] ClaimToken token() { return draw<ClaimTokenTag>(); }
  [[nodiscard]] Reference reference() { return draw<ReferenceTag>(); }
  [[nodiscard]] std::uint64_t number();

  /// Fills at most a page. Ends the process if the kernel gives none: ids that repeat are worse.
  void fill(std::uint8_t* bytes, std::size_t size);

 private:
  std::array<std::uint8_t, 4096> page_{};
  std::size_t used_ = 4096;
};

}  // namespace semel
