#pragma once

#include <string>

#include "stores/pg_facts.h"

namespace semel::postgres {

/// What an answer of this server promises, in words: what it survives, and what not.
[[nodiscard]] std::string grade_in_words(const PgFacts& facts);

/// What an operator should know of this server, from the start on; empty: nothing.
[[nodiscard]] std::string remark_on(const PgFacts& facts);

}  // namespace semel::postgres
