#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/http_client.h"
#include "tests/support/json.h"
#include "tests/support/process.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {

enum class StoreKind : std::uint8_t { Memory, Sqlite, Shared };

/// What a test wants to be different.
struct SemelOptions {
  std::string binary;  ///< Path of the program.
  StoreKind store = StoreKind::Memory;
  std::string memory_limits;  ///< Of the memory store: `, max_records: 2`.
  std::string store_folder;   ///< Where the SQLite file lies; empty: the temporary folder.
  std::string shared_store;   ///< Of a store of many replicas: `redis: {url: "redis://..."}`.
  std::string listen_more;    ///< Of the listener: `, authorities: [a.test]`.
  std::string yaml;           ///< Upstreams, routes, limits: all but listeners and store.
  std::vector<std::string> environment;  ///< `NAME=value`.
};

/// A `semel serve` of its own: configuration, store, logs and ports in a temporary folder.
class SemelProcess {
 public:
  /// Writes the configuration and, for SQLite, initialises the store. Starts nothing.
  /// @throws std::runtime_error as init_store().
  explicit SemelProcess(SemelOptions options);

  /// `semel store init`: of a shared store, by whoever is first.
  /// @throws std::runtime_error if it fails; the text holds what it printed.
  void init_store() const;

  /// Starts it and waits until it is ready.
  /// @param words  Further arguments of `semel serve`.
  /// @throws std::runtime_error with its standard error if it ends or is not ready in time.
  void start(const std::vector<std::string>& words = {});
  /// The same, until it says why it is not ready: with this sentence of /readyz.
  void start_not_ready(std::string_view sentence);
  /// Starts it and waits for its end, as it is to be after a bad start.
  [[nodiscard]] Finished start_in_vain(const std::vector<std::string>& words = {}) const;
  /// Writes the configuration anew, with other SemelOptions::yaml and listen_more.
  void rewrite(std::string yaml, std::string listen_more);
  /// Sends SIGHUP and waits until the reload has ended.
  /// @return The lines that it wrote; empty if it did not end in time.
  [[nodiscard]] std::string reload();
  void restart();
  void kill9();
  void sigterm();
  void sighup();
  /// Lets it go on after a SIGSTOP.
  void sigcont();
  /// It stands still, by a SIGSTOP.
  [[nodiscard]] bool is_stopped() const;
  /// @return Absent if it still runs at the deadline.
  std::optional<Exit> wait(milliseconds patience = milliseconds{20'000});
  [[nodiscard]] bool is_running() { return process_ && process_->is_running(); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  /// The memory that is resident now.
  [[nodiscard]] std::size_t resident_bytes() const;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::uint16_t metrics_port() const { return metrics_port_; }
  [[nodiscard]] const std::string& binary() const { return options_.binary; }
  [[nodiscard]] std::string config_file() const { return folder_.file("semel.yaml"); }
  [[nodiscard]] std::string store_file() const;
  [[nodiscard]] std::string stderr_text() const { return read_file(folder_.file("stderr")); }
  [[nodiscard]] std::string stdout_text() const { return read_file(folder_.file("stdout")); }

  /// The access log's lines, parsed.
  [[nodiscard]] std::vector<Json> access_log() const;
  /// Waits until the access log has that many lines. @return what it has then.
  [[nodiscard]] std::vector<Json> access_log(std::size_t lines) const;

  /// The sum of the samples of that name that carry all these labels, now.
  [[nodiscard]] double metric(std::string_view name,
                              const std::map<std::string, std::string>& labels = {}) const;

 private:
  [[nodiscard]] std::string config_text() const;
  [[nodiscard]] std::vector<std::string> serve_command(const std::vector<std::string>& words) const;
  /// @param sentence  Of /readyz; empty: it is ready.
  void start_until(std::string_view sentence, const std::vector<std::string>& words = {});
  [[nodiscard]] bool says(std::string_view sentence) const;

  SemelOptions options_;
  TempFolder folder_;
  std::uint16_t port_;
  std::uint16_t metrics_port_;
  std::unique_ptr<Process> process_;
};

/// Reads one sample line of the Prometheus text format: `name{label="value",...} number`.
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};
[[nodiscard]] std::vector<Sample> parse_metrics(std::string_view text);

}  // namespace semel::testing
