#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/certificates.h"
#include "tests/support/moved_wall.h"
#include "tests/support/process.h"
#include "tests/support/resp_client.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {

/// What a RedisServer is started with: the lines of its redis.conf, in the words of the tests.
struct RedisSetup {
  enum class AppendOnly : std::uint8_t { Off, EverySecond, Always };

  AppendOnly append_only = AppendOnly::Always;
  std::optional<std::uint16_t> replica_of;  ///< The port of another server.
  std::string maxmemory = "0";              ///< `20mb`; 0: none.
  std::string maxmemory_policy = "noeviction";
  /// Lines of its ACL file: `user semel on >secret ~semel:* &* +@all`. Empty: everybody may.
  std::vector<std::string> users;
  bool has_tls = false;  ///< On a port of its own, beside the plain one.
  bool is_in_cluster = false;
  const MovedWall* wall = nullptr;    ///< Its clock; it outlives the server. Null: this machine's.
  std::vector<std::string> settings;  ///< Further lines: `min-replicas-to-write 1`.
};

/// A real redis-server on a port of 127.0.0.1 and in a temporary folder, which dies with the thread
/// that has started it. Empty when it starts first.
class RedisServer {
 public:
  [[nodiscard]] static bool is_installed();

  /// Starts it and waits until it answers.
  /// @throws std::runtime_error with its log if it does not.
  explicit RedisServer(RedisSetup setup);
  RedisServer() : RedisServer(RedisSetup{}) {}

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// `redis://127.0.0.1:port`.
  [[nodiscard]] std::string url() const;
  /// Of RedisSetup::has_tls: `rediss://localhost:port`.
  [[nodiscard]] std::uint16_t tls_port() const { return tls_port_; }
  [[nodiscard]] std::string tls_url() const;
  [[nodiscard]] const Certificates& certificates() const { return certificates_.value(); }
  /// Where the other nodes of its cluster talk to it.
  [[nodiscard]] std::uint16_t bus_port() const { return bus_port_; }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] std::string log() const { return read_file(folder_.file("log")); }
  /// Where its append-only file and its snapshot lie.
  [[nodiscard]] const TempFolder& folder() const { return folder_; }

  void kill9();
  /// An orderly end, by SIGTERM. What it was to remember is on the disk.
  void stop();
  /// It stands still: it accepts connections, and says nothing.
  void pause();
  void resume();
  /// On the same port and folder. Ends the old process, by stop(), where it still runs.
  /// @throws std::runtime_error as the constructor.
  void restart();

  /// Runs one command on a connection of its own. @return what it printed: RespValue::printed().
  /// @throws std::runtime_error with the server's words if it is an error, or if no answer came.
  std::string command(const std::vector<std::string>& words) const;
  /// One field of INFO: `info("master_link_status")`. Empty if there is none.
  [[nodiscard]] std::string info(std::string_view field) const;
  /// A connection for several commands. Authenticated, where that takes it.
  [[nodiscard]] RespClient client(milliseconds patience = milliseconds{5'000}) const;

 private:
  void start();
  void write_files() const;
  [[nodiscard]] bool answers() const;

  RedisSetup setup_;
  TempFolder folder_;
  std::uint16_t port_;
  std::uint16_t tls_port_ = 0;
  std::uint16_t bus_port_ = 0;
  std::optional<Certificates> certificates_;
  std::unique_ptr<Process> process_;
};

}  // namespace semel::testing
