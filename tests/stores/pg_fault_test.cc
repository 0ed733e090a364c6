#include "stores/pg_fault.h"

#include <gmock/gmock.h>

namespace semel::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PgAnswer error(std::string sqlstate, std::string message = "words") {
  PgAnswer answer;
  answer.kind = PgAnswer::Kind::Error;
  answer.sqlstate = std::move(sqlstate);
  answer.message = std::move(message);
  return answer;
}

const PgStatement kClaim{"claim", "", PgStatement::Kind::Write, {}};

// The codes are those of PostgreSQL 15, Appendix A.
TEST(PgFault, EachCodeIsTheFaultThatIsTrueOfTheWorld) {
  struct Row {
    const char* name;
    const char* sqlstate;
    Fault fault;
    bool renew;
  };
  constexpr Row kRows[] = {
      {"disk_full", "53100", Fault::StoreFull, false},
      {"out_of_memory", "53200", Fault::StoreUnreachable, false},
      {"data_corrupted", "XX001", Fault::RecordCorrupt, false},
      {"index_corrupted", "XX002", Fault::RecordCorrupt, false},
      {"lock_not_available", "55P03", Fault::StoreUnreachable, false},
      {"query_canceled", "57014", Fault::StoreUnreachable, false},
      {"serialization_failure", "40001", Fault::StoreUnreachable, false},
      {"deadlock_detected", "40P01", Fault::StoreUnreachable, false},
      {"statement_completion_unknown", "40003", Fault::StoreTimeout, false},
      {"transaction_resolution_unknown", "08007", Fault::StoreTimeout, false},
      {"read_only_sql_transaction", "25006", Fault::StoreUnreachable, true},
      {"cached plan must not change", "0A000", Fault::StoreUnreachable, true},
      {"undefined_table", "42P01", Fault::StoreUnreachable, false},
      {"a code of tomorrow", "ZZ999", Fault::StoreUnreachable, false},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(verdict_on(error(row.sqlstate)).fault, row.fault) << row.name;
    EXPECT_EQ(verdict_on(error(row.sqlstate)).renew, row.renew) << row.name;
  }
}

TEST(PgFault, ASentenceNamesTheStatementTheCodeAndTheCure) {
  for (const char* code : {"42P01", "42883", "3F000", "42703"}) {
    EXPECT_THAT(sentence_of(kClaim, error(code, "relation is not there")),
                ::testing::AllOf(HasSubstr("claim: SQLSTATE "), HasSubstr(code),
                                 HasSubstr("relation is not there"),
                                 HasSubstr("run `semel store init CONFIG`")));
  }
}

TEST(PgFault, WordsThatMayQuoteAValueAreLeftOut) {
  for (const char* code : {"22P02", "23505", "P0001"}) {
    EXPECT_THAT(sentence_of(kClaim, error(code, "invalid: \"hunter2\"")),
                ::testing::AllOf(HasSubstr(code), Not(HasSubstr("hunter2"))));
  }
}

}  // namespace
}  // namespace semel::testing
