#pragma once

#include <string_view>

namespace semel {

/// One header line as received: name in the sender's case, value without outer white space.
/// @owns Views into the buffer of the message that it came with.
struct HeaderField {
  std::string_view name;
  std::string_view value;
};

}  // namespace semel
