// The strict JSON reader on any bytes. What it accepts has one canonical text, and that text reads
// back as the same value.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/canonical_json.h"
#include "core/check.h"
#include "core/form.h"
#include "core/json_pointer.h"
#include "core/json_reader.h"

namespace {

void check_round_trip(const semel::ValueTape& tape) {
  const std::string text = semel::canonical_text(tape, 0);
  semel::ValueTape again;
  const auto fault = semel::read_json(text, again);
  if (fault) {
    // Only the bounds of a number are counted as written, so that another spelling may exceed them.
    SEMEL_CHECK(fault->what.starts_with("a number"));
    return;
  }
  SEMEL_CHECK(semel::canonical_text(again, 0) == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  semel::ValueTape tape;
  if (!semel::read_json(input, tape)) {
    check_round_trip(tape);
    for (const char* pointer : {"", "/flight", "/a/0/b", "/0"}) (void)semel::find(tape, pointer);
  }
  if (!semel::read_form(input, tape)) check_round_trip(tape);
  return 0;
}
