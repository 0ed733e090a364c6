#include "stores/pg_fault.h"

#include <string_view>

namespace semel {
namespace {

struct Row {
  std::string_view code;
  PgVerdict verdict;
  std::string_view cure;
};

constexpr std::string_view kNoSchema =
    "there is no schema of this version: run `semel store init CONFIG`";

/// What no row names was rolled back whole, and may do better the next time.
constexpr Row kRows[] = {
    {"53100", {Fault::StoreFull, false}, "its disk is full"},
    {"XX001", {Fault::RecordCorrupt, false}, "a page is broken: restore from a backup"},
    {"XX002", {Fault::RecordCorrupt, false}, "an index is broken: REINDEX it"},
    {"40003", {Fault::StoreTimeout, false}, "whether it was carried out is not known"},
    {"08007", {Fault::StoreTimeout, false}, "whether it was carried out is not known"},
    {"25006", {Fault::StoreUnreachable, true}, "it takes no writes"},
    {"0A000", {Fault::StoreUnreachable, true}, "the schema was changed"},
    {"26000", {Fault::StoreUnreachable, false}, "it was not prepared: is there a pooler between?"},
    {"42P05", {Fault::StoreUnreachable, false}, "is there a pooler between?"},
    {"42P01", {Fault::StoreUnreachable, false}, kNoSchema},
    {"42883", {Fault::StoreUnreachable, false}, kNoSchema},
    {"42703", {Fault::StoreUnreachable, false}, kNoSchema},
    {"3F000", {Fault::StoreUnreachable, false}, kNoSchema},
    {"42501",
     {Fault::StoreUnreachable, false},
     "the role needs the rights that docs/operations.md grants"},
};

const Row* row_of(std::string_view sqlstate) {
  for (const Row& row : kRows) {
    if (row.code == sqlstate) return &row;
  }
  return nullptr;
}

/// Messages of these classes may quote a value: data exceptions, constraints, PL/pgSQL's own.
bool may_quote_values(std::string_view sqlstate) {
  return sqlstate.starts_with("22") || sqlstate.starts_with("23") || sqlstate.starts_with("P0");
}

}  // namespace

PgVerdict verdict_on(const PgAnswer& error) {
  const Row* row = row_of(error.sqlstate);
  return row == nullptr ? PgVerdict{} : row->verdict;
}

std::string sentence_of(const PgStatement& statement, const PgAnswer& error) {
  std::string sentence = statement.name;
  if (!error.sqlstate.empty()) sentence += ": SQLSTATE " + error.sqlstate;
  if (!may_quote_values(error.sqlstate)) sentence += ": " + error.message;
  if (const Row* row = row_of(error.sqlstate)) sentence += "; " + std::string(row->cure);
  return sentence;
}

}  // namespace semel
