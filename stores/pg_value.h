#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

/// One value of PostgreSQL in its binary form, as it stands on the wire: bytes of a `bytea` and
/// UTF-8 of a `text` as they are, integers big-endian. Absent: NULL.
using PgValue = std::optional<std::string>;
using PgRow = std::vector<PgValue>;

/// Of one statement, in the server's order.
struct PgRows {
  std::vector<PgRow> rows;
};

/// The types of parameters, by their numbers in pg_type, which never change.
enum class PgType : std::uint32_t {
  Bool = 16,
  Bytea = 17,
  Int8 = 20,
  Int2 = 21,
  Int4 = 23,
  Text = 25,
  ByteaArray = 1001,
  TextArray = 1009,
  Int8Array = 1016,
};

[[nodiscard]] PgValue pg_bool(bool value);
[[nodiscard]] PgValue pg_int2(std::int16_t value);
[[nodiscard]] PgValue pg_int4(std::int32_t value);
[[nodiscard]] PgValue pg_int8(std::int64_t value);
/// Of one dimension, as ByteaArray and the like take it.
/// @param element  The type of each of `values`.
[[nodiscard]] PgValue pg_array(PgType element, std::span<const PgValue> values);

/// The integer in 1, 2, 4 or 8 bytes: a boolean is 0 or 1.
/// @return Absent: NULL, or no integer.
[[nodiscard]] std::optional<std::int64_t> pg_integer(const PgValue& value);
/// The elements of an array of one dimension. Absent: NULL, or no such array.
[[nodiscard]] std::optional<std::vector<PgValue>> pg_elements(const PgValue& value);

}  // namespace semel
