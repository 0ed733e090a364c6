// Any bytes at all: what decodes has to encode to the same bytes again. The checksum is made good,
// so that it does not keep the fuzzer out.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/check.h"
#include "stores/record_codec.h"

namespace {

void check(const std::string& bytes) {
  if (const auto entry = semel::decode_entry(bytes)) {
    if (const auto* record = std::get_if<semel::RecordEntry>(&*entry)) {
      SEMEL_CHECK(semel::encode_record(record->key, record->record) == bytes);
    } else {
      SEMEL_CHECK(semel::encode_erased(std::get<semel::ErasedEntry>(*entry).key) == bytes);
    }
  }
  if (const auto response = semel::decode_response(bytes)) {
    SEMEL_CHECK(semel::encode_response(**response) == bytes);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string input(reinterpret_cast<const char*>(bytes), size);
  check(input);
  const std::uint32_t crc = semel::crc32(input);
  for (int i = 0; i < 4; ++i) input.push_back(static_cast<char>((crc >> (8 * i)) & 0xFF));
  check(input);
  return 0;
}
