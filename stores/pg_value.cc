#include "stores/pg_value.h"

namespace semel {
namespace {

template <class Integer>
void append(std::string& out, Integer value) {
  for (int shift = static_cast<int>(sizeof(Integer)) * 8 - 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(static_cast<std::uint64_t>(value) >> shift));
  }
}

/// Reads what stands big-endian at the front, bounded.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  [[nodiscard]] std::int32_t int4() {
    std::uint32_t value = 0;
    for (const char c : bytes(4)) value = value << 8 | static_cast<std::uint8_t>(c);
    return static_cast<std::int32_t>(value);
  }
  [[nodiscard]] std::string_view bytes(std::size_t size) {
    if (size > left_.size()) {
      failed_ = true;
      return {};
    }
    const auto taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool is_at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
  bool failed_ = false;
};

template <class Integer>
PgValue integer(Integer value) {
  std::string bytes;
  append(bytes, value);
  return bytes;
}

}  // namespace

PgValue pg_bool(bool value) { return std::string(1, value ? '\1' : '\0'); }
PgValue pg_int2(std::int16_t value) { return integer(value); }
PgValue pg_int4(std::int32_t value) { return integer(value); }
PgValue pg_int8(std::int64_t value) { return integer(value); }

PgValue pg_array(PgType element, std::span<const PgValue> values) {
  bool has_null = false;
  for (const PgValue& value : values) has_null = has_null || !value;
  std::string bytes;
  append(bytes, std::int32_t{values.empty() ? 0 : 1});  // Dimensions.
  append(bytes, std::int32_t{has_null ? 1 : 0});
  append(bytes, static_cast<std::uint32_t>(element));
  if (values.empty()) return bytes;
  append(bytes, static_cast<std::int32_t>(values.size()));
  append(bytes, std::int32_t{1});  // Arrays count from 1.
  for (const PgValue& value : values) {
    append(bytes, value ? static_cast<std::int32_t>(value->size()) : std::int32_t{-1});
    if (value) bytes += *value;
  }
  return bytes;
}

std::optional<std::int64_t> pg_integer(const PgValue& value) {
  if (!value) return std::nullopt;
  const std::size_t size = value->size();
  if (size != 1 && size != 2 && size != 4 && size != 8) return std::nullopt;
  std::uint64_t bits = 0;
  for (const char c : *value) bits = bits << 8 | static_cast<std::uint8_t>(c);
  const int unused = 64 - static_cast<int>(size) * 8;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

std::optional<std::vector<PgValue>> pg_elements(const PgValue& value) {
  if (!value) return std::nullopt;
  Reader reader(*value);
  const std::int32_t dimensions = reader.int4();
  (void)reader.bytes(8);  // Whether there are NULLs, and the type of the elements.
  std::vector<PgValue> elements;
  if (dimensions == 0 && !reader.failed()) return elements;
  const std::int32_t count = reader.int4();
  (void)reader.bytes(4);  // The index of the first.
  if (dimensions != 1 || reader.failed()) return std::nullopt;
  for (std::int32_t i = 0; i < count && !reader.failed(); ++i) {
    const std::int32_t size = reader.int4();
    if (size < 0) {
      elements.emplace_back();
    } else {
      elements.emplace_back(reader.bytes(static_cast<std::size_t>(size)));
    }
  }
  if (reader.failed() || !reader.is_at_end()) return std::nullopt;
  return elements;
}

}  // namespace semel
