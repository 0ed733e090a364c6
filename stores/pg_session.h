#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "stores/open.h"
#include "stores/pg_facts.h"
#include "stores/pg_statement.h"
#include "stores/pg_value.h"

namespace semel {

/// The server has refused, or cannot be reached. No password is in the sentence.
class PgError : public StoreError {
 public:
  PgError(const std::string& sentence, std::string sqlstate)
      : StoreError(sentence), sqlstate_(std::move(sqlstate)) {}
  /// Five characters; empty: the server said nothing.
  [[nodiscard]] const std::string& sqlstate() const { return sqlstate_; }

 private:
  std::string sqlstate_;
};

/// One blocking connection, for the command line and the start: never on a worker.
class PgSession {
 public:
  /// Connects. A standby is a PgError, too.
  /// @throws StoreError, PgError
  explicit PgSession(const PostgresOptions& options);
  ~PgSession();
  PgSession(const PgSession&) = delete;
  PgSession& operator=(const PgSession&) = delete;

  [[nodiscard]] const PgFacts& facts() const;
  /// Several statements in one transaction: all or nothing. @throws PgError
  void run(const std::string& script);
  /// One statement, not prepared. @throws PgError
  [[nodiscard]] PgRows ask(const PgStatement& statement, std::span<const PgValue> params);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace semel
