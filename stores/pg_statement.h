#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stores/pg_value.h"

namespace semel {

/// A statement that each connection prepares when it is first asked there.
/// @owns Whoever asks it: it outlives the links, as a constant of a namespace does.
struct PgStatement {
  enum class Kind : std::uint8_t {
    Read,
    Write,  ///< A WARNING in its answer means: carried out, but less durable than promised.
  };

  std::string name;  ///< Unlike every other's.
  std::string sql;   ///< One statement. Names are qualified: the search_path is `pg_catalog`.
  Kind kind = Kind::Write;
  std::vector<PgType> types;  ///< Of `$1`, `$2`, ...
};

}  // namespace semel
