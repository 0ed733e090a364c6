#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stores/pg_statement.h"
#include "stores/pg_value.h"

struct pg_conn;    // PGconn of libpq.
struct pg_result;  // PGresult.

namespace semel {

/// Words of a connection: `{"host", "db.example"}`. A later one of the same name counts.
using PgWords = std::vector<std::pair<std::string, std::string>>;

/// What a URL comes to, with the environment, the service file and libpq's defaults.
/// @throws StoreError if libpq cannot read it. What the URL holds is not in the sentence.
[[nodiscard]] PgWords pg_effective_words(const std::string& url);

/// What came back for something that was sent.
struct PgAnswer {
  enum class Kind : std::uint8_t {
    Rows,   ///< Or a command was carried out.
    Error,  ///< `sqlstate` and `message`.
    Sync,   ///< All up to a sync is over: committed, or rolled back if there was an Error.
    Gap,    ///< Nothing: one answer is over, and the next one may follow.
  };
  Kind kind = Kind::Gap;
  PgRows rows;
  std::string sqlstate;   ///< Five characters; empty: libpq's own error, or a skipped statement.
  std::string message;    ///< One line.
  bool is_fatal = false;  ///< The server ends the connection with it.
};

/// One connection of libpq, which never blocks and never waits: its owner watches the socket.
/// The only part of Semel that knows libpq.
/// @thread One at a time.
class PgConnection {
 public:
  enum class Want : std::uint8_t { Reading, Writing, Nothing, Failed };
  enum class Flushed : std::uint8_t { All, Some, Broken };

  /// Begins to connect: `advance()` goes on once the socket is ready for what it wants. Looks up no
  /// name if the words have `hostaddr` beside `host`.
  explicit PgConnection(const PgWords& words);
  ~PgConnection();
  PgConnection(const PgConnection&) = delete;
  PgConnection& operator=(const PgConnection&) = delete;

  /// @return false: it has failed before the first step.
  [[nodiscard]] bool is_connecting() const;
  /// @return Nothing: connected. The socket may be another one after each step.
  [[nodiscard]] Want advance();
  [[nodiscard]] int socket() const;
  [[nodiscard]] bool is_alive() const;
  /// The latest failure in one line, without the password.
  [[nodiscard]] std::string error() const;

  /// From here on things are sent without waiting for answers. @return false: not connected.
  [[nodiscard]] bool begin_pipeline();
  /// Each: false if the connection is broken. libpq 15 writes what it holds at each sync.
  [[nodiscard]] bool prepare(const PgStatement& statement);
  [[nodiscard]] bool execute(const PgStatement& statement, const std::vector<PgValue>& params);
  [[nodiscard]] bool sync();
  [[nodiscard]] Flushed flush();
  /// Small writes leave together, once it is off again. Nothing to be had on a Unix socket.
  void hold_back(bool on);

  /// Outside of a pipeline: one statement that is not prepared, or a script of several.
  [[nodiscard]] bool ask(const PgStatement& statement, const std::vector<PgValue>& params);
  [[nodiscard]] bool run(const std::string& script);

  /// Takes what has arrived off the socket. @return false: the connection is at its end; answers
  /// that arrived before may still be read.
  [[nodiscard]] bool consume();
  /// True if next() had to wait for the server.
  [[nodiscard]] bool is_busy();
  [[nodiscard]] PgAnswer next();
  /// The payload of a notification that has arrived.
  [[nodiscard]] std::optional<std::string> notification();
  /// Whether there was a WARNING since it was asked last.
  [[nodiscard]] bool take_warning() { return std::exchange(warned_, false); }

 private:
  static void notice(void* self, const pg_result* result);
  void point_at(const std::vector<PgValue>& params);

  pg_conn* connection_;
  bool warned_ = false;
  std::vector<const char*> values_;  ///< Of the latest parameters, as libpq takes them.
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

}  // namespace semel
