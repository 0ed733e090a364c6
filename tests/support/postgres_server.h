#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/certificates.h"
#include "tests/support/moved_wall.h"
#include "tests/support/process.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {

/// What a PostgresServer is started with.
struct PostgresSetup {
  /// Lines of postgresql.conf: `fsync = off`. The later one of two counts.
  std::vector<std::string> settings;
  /// Lines of pg_hba.conf for TCP: `hostssl all all 127.0.0.1/32 scram-sha-256`. Empty: everybody
  /// may. The tests themselves come by the unix socket.
  std::vector<std::string> access;
  bool has_tls = false;             ///< On the same port; without it there is none.
  const MovedWall* wall = nullptr;  ///< Its clock; it outlives the server. Null: this machine's.
  /// A database system that no other server of these tests is a copy of: one more second.
  bool has_own_system_id = false;
};

/// A real PostgreSQL 15 on a port of 127.0.0.1 and in a temporary folder, which dies with the
/// thread that has started it. Its superuser is `semel`, its database `postgres`, and empty when
/// it starts first. Runs as an unprivileged user where the test runs as root.
class PostgresServer {
 public:
  [[nodiscard]] static bool is_installed();

  /// Starts it and waits until it accepts connections.
  /// @throws std::runtime_error with its log if it does not.
  explicit PostgresServer(PostgresSetup setup);
  PostgresServer() : PostgresServer(PostgresSetup{}) {}
  /// A hot standby of `primary`, streaming from it under the name of an application: for
  /// `synchronous_standby_names`.
  PostgresServer(const PostgresServer& primary, PostgresSetup setup,
                 const std::string& application_name = "standby");
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// `postgres://semel@127.0.0.1:port/postgres`.
  [[nodiscard]] std::string url() const;
  /// Where its unix socket lies.
  [[nodiscard]] std::string socket_folder() const { return folder_.path().string(); }
  [[nodiscard]] const Certificates& certificates() const { return certificates_.value(); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] std::string log() const { return read_file(folder_.file("err")); }

  /// Kills the server and all its children, and waits until they are gone.
  void kill9();
  /// An orderly end, which waits for nobody: SIGINT, "fast".
  void stop();
  /// It stands still, with all its children: it accepts connections, and says nothing.
  void pause();
  void resume();
  /// On the same port and folder. Ends the old process, by stop(), where it still runs.
  /// @throws std::runtime_error as the constructor.
  void restart();

  /// Runs statements as the superuser, by psql. @return the rows, a line each, columns apart by
  /// `|`, without heads.
  /// @throws std::runtime_error with the server's words if one fails.
  std::string sql(const std::string& statements) const;
  /// What it says to a standby: be the primary. Waits until it is.
  void promote();

  /// Keeps a copy of the whole database system as it is now, taken while it runs.
  void back_up();
  /// Puts that copy in the place of the database system. The server is ended, and started again.
  void restore();

 private:
  [[nodiscard]] std::string folder_named(std::string_view name) const { return folder_.file(name); }
  void copy_template();
  void base_backup(const PostgresServer& of, const std::string& into,
                   const std::vector<std::string>& words) const;
  void configure();
  void own(const std::string& path) const;
  void start();
  [[nodiscard]] bool is_ready() const;
  void forget_shared_memory() const;

  PostgresSetup setup_;
  TempFolder folder_;
  std::uint16_t port_;
  std::optional<Certificates> certificates_;
  std::unique_ptr<Process> process_;
};

}  // namespace semel::testing
