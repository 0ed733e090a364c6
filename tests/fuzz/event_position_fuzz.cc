// A position of the transition log, from any bytes. What is taken is a position that the log has
// given, spelt as the log spells it, or an older one, for which there is a gap: never another.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "core/check.h"
#include "stores/event_span.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace semel;
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  EventSpan span;
  span.log = "5e0c3b1f";
  span.trimmed = 100;
  span.last = 12'345;
  const auto found = span.find(input);
  if (!found) {
    SEMEL_CHECK(found.error() == Fault::RecordCorrupt);
    return 0;
  }
  if (const auto* gap = std::get_if<EventGap>(&*found)) {
    SEMEL_CHECK(gap->oldest == span.position(span.trimmed));
    std::uint64_t number = 0;
    while (number < span.trimmed && input != span.position(number)) ++number;
    SEMEL_CHECK(number < span.trimmed);
    return 0;
  }
  const std::uint64_t number = std::get<std::uint64_t>(*found);
  SEMEL_CHECK(number >= span.trimmed && number <= span.last);
  SEMEL_CHECK(input.empty() || input == span.position(number));
  return 0;
}
