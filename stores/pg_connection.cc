// The only file that includes libpq. It translates, and decides nothing: what an answer means is
// PgPipeline's to say, and who waits for the socket is PgLink.

#include "stores/pg_connection.h"

#include <libpq-fe.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <memory>
#include <string_view>

#include "core/check.h"
#include "stores/open.h"

namespace semel {
namespace {

struct Free {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
  void operator()(char* text) const { PQfreemem(text); }
  void operator()(PGnotify* notification) const { PQfreemem(notification); }
};

/// Without its line breaks, and without a last one.
std::string one_line(const char* text) {
  std::string line(text == nullptr ? "" : text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return line;
}

/// What libpq quotes when it cannot read a URL is part of the URL: a password, it may be.
std::string without_quotes(std::string_view text) {
  std::string kept;
  for (;;) {
    const auto open = text.find('"');
    kept += text.substr(0, open);
    if (open == std::string_view::npos) return kept;
    const auto close = text.find('"', open + 1);
    kept += "\"...\"";
    if (close == std::string_view::npos) return kept;
    text.remove_prefix(close + 1);
  }
}

std::unique_ptr<PGconn, Free> start(const PgWords& words) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : words) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  std::unique_ptr<PGconn, Free> connection(PQconnectStartParams(names.data(), values.data(), 1));
  SEMEL_CHECK(connection != nullptr);  // Out of memory.
  return connection;
}

[[noreturn]] void refuse(std::string_view why) {
  throw StoreError("store.postgres.url: " + without_quotes(why));
}

std::vector<Oid> oids(const PgStatement& statement) {
  std::vector<Oid> types;
  for (const PgType type : statement.types) types.push_back(static_cast<Oid>(type));
  return types;
}

PgRows rows_of(const PGresult* result) {
  PgRows found;
  const int rows = PQntuples(result);
  const int columns = PQnfields(result);
  found.rows.resize(static_cast<std::size_t>(rows));
  for (int row = 0; row < rows; ++row) {
    PgRow& values = found.rows[static_cast<std::size_t>(row)];
    values.resize(static_cast<std::size_t>(columns));
    for (int column = 0; column < columns; ++column) {
      if (PQgetisnull(result, row, column) != 0) continue;
      values[static_cast<std::size_t>(column)].emplace(
          PQgetvalue(result, row, column),
          static_cast<std::size_t>(PQgetlength(result, row, column)));
    }
  }
  return found;
}

std::string field(const PGresult* result, int code) {
  return one_line(PQresultErrorField(result, code));
}

}  // namespace

PgWords pg_effective_words(const std::string& url) {
  char* reason = nullptr;
  const std::unique_ptr<PQconninfoOption, Free> given(PQconninfoParse(url.c_str(), &reason));
  const std::unique_ptr<char, Free> sentence(reason);
  if (!given) refuse(one_line(reason));
  // What the service file and the environment add, libpq tells of a connection only. A value that
  // is none ends that one before a name is looked up: the last that it checks, and one before.
  const auto checked = start({{"dbname", url}, {"target_session_attrs", "semel"}});
  const std::string end = one_line(PQerrorMessage(checked.get()));
  if (!end.starts_with("invalid target_session_attrs value")) refuse(end);
  const auto connection = start({{"dbname", url}, {"channel_binding", "semel"}});
  const std::unique_ptr<PQconninfoOption, Free> options(PQconninfo(connection.get()));
  SEMEL_CHECK(options != nullptr);
  PgWords words;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr && std::string_view(option->keyword) != "password") {
      words.emplace_back(option->keyword, option->val);
    }
  }
  return words;
}

PgConnection::PgConnection(const PgWords& words) : connection_(start(words).release()) {
  PQsetNoticeReceiver(connection_, &PgConnection::notice, this);
}

PgConnection::~PgConnection() { PQfinish(connection_); }

void PgConnection::notice(void* self, const pg_result* result) {
  const char* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  if (severity != nullptr && std::string_view(severity) == "WARNING") {
    static_cast<PgConnection*>(self)->warned_ = true;
  }
}

bool PgConnection::is_connecting() const { return PQstatus(connection_) != CONNECTION_BAD; }

PgConnection::Want PgConnection::advance() {
  switch (PQconnectPoll(connection_)) {
    case PGRES_POLLING_OK:
      return Want::Nothing;
    case PGRES_POLLING_READING:
      return Want::Reading;
    case PGRES_POLLING_WRITING:
      return Want::Writing;
    case PGRES_POLLING_FAILED:
    case PGRES_POLLING_ACTIVE:
      break;
  }
  return Want::Failed;
}

int PgConnection::socket() const { return PQsocket(connection_); }
bool PgConnection::is_alive() const { return PQstatus(connection_) == CONNECTION_OK; }
std::string PgConnection::error() const { return one_line(PQerrorMessage(connection_)); }

bool PgConnection::begin_pipeline() {
  return PQsetnonblocking(connection_, 1) == 0 && PQenterPipelineMode(connection_) == 1;
}

bool PgConnection::prepare(const PgStatement& statement) {
  const auto types = oids(statement);
  return PQsendPrepare(connection_, statement.name.c_str(), statement.sql.c_str(),
                       static_cast<int>(types.size()), types.data()) == 1;
}

void PgConnection::point_at(const std::vector<PgValue>& params) {
  values_.clear();
  lengths_.clear();
  for (const PgValue& param : params) {
    values_.push_back(param ? param->data() : nullptr);
    lengths_.push_back(param ? static_cast<int>(param->size()) : 0);
  }
  formats_.resize(params.size(), 1);
}

bool PgConnection::execute(const PgStatement& statement, const std::vector<PgValue>& params) {
  point_at(params);
  return PQsendQueryPrepared(connection_, statement.name.c_str(), static_cast<int>(params.size()),
                             values_.data(), lengths_.data(), formats_.data(), 1) == 1;
}

bool PgConnection::sync() { return PQpipelineSync(connection_) == 1; }

PgConnection::Flushed PgConnection::flush() {
  const int left = PQflush(connection_);
  return left == 0 ? Flushed::All : left > 0 ? Flushed::Some : Flushed::Broken;
}

void PgConnection::hold_back(bool on) {
  const int value = on ? 1 : 0;
  (void)setsockopt(socket(), IPPROTO_TCP, TCP_CORK, &value, sizeof value);
}

bool PgConnection::ask(const PgStatement& statement, const std::vector<PgValue>& params) {
  point_at(params);
  const auto types = oids(statement);
  return PQsendQueryParams(connection_, statement.sql.c_str(), static_cast<int>(params.size()),
                           types.data(), values_.data(), lengths_.data(), formats_.data(), 1) == 1;
}

bool PgConnection::run(const std::string& script) {
  return PQsendQuery(connection_, script.c_str()) == 1;
}

bool PgConnection::consume() { return PQconsumeInput(connection_) == 1 && is_alive(); }
bool PgConnection::is_busy() { return PQisBusy(connection_) != 0; }

PgAnswer PgConnection::next() {
  const std::unique_ptr<PGresult, Free> result(PQgetResult(connection_));
  PgAnswer answer;
  if (!result) return answer;
  switch (PQresultStatus(result.get())) {
    case PGRES_TUPLES_OK:
      answer.rows = rows_of(result.get());
      [[fallthrough]];
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
      answer.kind = PgAnswer::Kind::Rows;
      return answer;
    case PGRES_PIPELINE_SYNC:
      answer.kind = PgAnswer::Kind::Sync;
      return answer;
    default:  // Errors, statements skipped after one, and what nobody asked for: COPY.
      break;
  }
  answer.kind = PgAnswer::Kind::Error;
  answer.sqlstate = field(result.get(), PG_DIAG_SQLSTATE);
  answer.message = field(result.get(), PG_DIAG_MESSAGE_PRIMARY);
  if (answer.message.empty()) answer.message = one_line(PQresultErrorMessage(result.get()));
  const std::string severity = field(result.get(), PG_DIAG_SEVERITY_NONLOCALIZED);
  answer.is_fatal = severity == "FATAL" || severity == "PANIC" || !is_alive();
  return answer;
}

std::optional<std::string> PgConnection::notification() {
  const std::unique_ptr<PGnotify, Free> arrived(PQnotifies(connection_));
  if (!arrived) return std::nullopt;
  return std::string(arrived->extra);
}

}  // namespace semel
