#pragma once

#include <string_view>

namespace semel {

/// What stands in `semel.store`: which tables and functions there are. One that is newer is
/// refused.
inline constexpr int kPostgresFormat = 1;

/// Makes the schema `semel` of that format where there is none: many statements, for one
/// transaction. @source stores/postgres/.
[[nodiscard]] std::string_view postgres_schema_sql();

}  // namespace semel
