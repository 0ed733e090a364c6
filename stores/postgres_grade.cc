#include "stores/postgres_grade.h"

namespace semel::postgres {
namespace {

constexpr int kTestedMajor = 15;

std::string standbys_in_words(const PgFacts& facts) {
  if (facts.synchronous_standby_names.empty() || facts.synchronous_commit == "local") {
    return facts.standbys == 0 ? "" : "; standbys may lack the latest when one is promoted";
  }
  return ", and on " + facts.synchronous_standby_names +
         (facts.synchronous_commit == "remote_write" ? " as far as its system's memory" : "");
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
