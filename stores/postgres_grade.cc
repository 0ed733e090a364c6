#include "stores/postgres_grade.h"

#include <algorithm>

#include "stores/pg_standby_names.h"

namespace semel::postgres {
namespace {

constexpr int kTestedMajor = 15;

/// Of those that are named fewer than all confirm a commit: one that is promoted may be another.
std::string some_in_words(const std::optional<PgStandbyNames>& waited_for) {
  if (!waited_for) return "some of its standbys";
  const auto& names = waited_for->names;
  const bool is_anybody = std::find(names.begin(), names.end(), "*") != names.end();
  return std::to_string(waited_for->count) + " of " +
         (is_anybody ? "any" : std::to_string(names.size())) + " standbys";
}

std::string standbys_in_words(const PgFacts& facts) {
  if (facts.synchronous_standby_names.empty() || facts.synchronous_commit == "local") {
    return facts.standbys == 0 ? "" : "; standbys may lack the latest when one is promoted";
  }
  const std::string depth =
      facts.synchronous_commit == "remote_write" ? " as far as its system's memory" : "";
  const auto waited_for = parse_standby_names(facts.synchronous_standby_names);
  if (waited_for && waited_for->are_all_waited_for()) {
    return ", and on " + facts.synchronous_standby_names + depth;
  }
  return ", and on " + some_in_words(waited_for) + " (" + facts.synchronous_standby_names + ")" +
         depth + "; another one may lack the latest when it is promoted";
}

}  // namespace

std::string grade_in_words(const PgFacts& facts) {
  if (facts.fsync != "on") return "none: fsync is " + facts.fsync;
  if (facts.synchronous_commit == "off") {
    return "none for the latest: synchronous_commit is off, a crash loses answered calls";
  }
  std::string grade = "fsync per commit" + standbys_in_words(facts);
  if (facts.full_page_writes != "on") {
    grade += "; full_page_writes is " + facts.full_page_writes + ", a torn page loses more";
  }
  return grade;
}

std::string remark_on(const PgFacts& facts) {
  if (facts.major() == kTestedMajor) return "";
  return "postgres: the server is version " + std::to_string(facts.major()) +
         "; Semel is tested with " + std::to_string(kTestedMajor);
}

}  // namespace semel::postgres
