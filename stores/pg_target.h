#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "stores/pg_connection.h"

namespace semel {

/// What a URL of PostgreSQL points at: one server, or several of which one takes writes.
class PgTarget {
 public:
  /// How long the server itself lets a statement run, and wait for a lock.
  struct Patience {
    std::chrono::milliseconds statement;
    std::chrono::milliseconds lock;
  };
  struct Host {
    std::string name;     ///< A host name, or the folder of a Unix socket; empty: libpq's default.
    std::string address;  ///< A number, where the URL has one: nothing is looked up.
    std::string port;
    [[nodiscard]] bool is_local() const;
    /// For an operator: `db.example:5432`.
    [[nodiscard]] std::string spelled() const;
  };

  /// @throws StoreError if libpq cannot read the URL.
  PgTarget(std::string url, Patience patience);

  /// In the order in which they are tried.
  [[nodiscard]] const std::vector<Host>& hosts() const { return hosts_; }
  /// What a connection to this host is made with.
  /// @param address  Numeric; empty for a Unix socket.
  [[nodiscard]] PgWords words(const Host& host, const std::string& address) const;

 private:
  [[nodiscard]] const std::string& word(std::string_view name) const;

  std::string url_;
  PgWords effective_;
  std::string options_;
  std::vector<Host> hosts_;
};

}  // namespace semel
