#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "stores/store.h"

namespace semel {

struct MemoryOptions {
  std::size_t records_max = 1'000'000;
  std::size_t bytes_max = 512ull * 1024 * 1024;  ///< Of stored bodies and headers.
  std::optional<EventRetention> events;          ///< Absent: no transition log.
};
struct SqliteOptions {
  std::string path;
  std::string state_dir;  ///< Of the witness; empty: none is kept, and no loss is noticed.
  std::chrono::milliseconds deadline{1'000};  ///< Of one operation, as the caller sees it.
  std::optional<EventRetention> events;       ///< Absent: no transition log.
};
/// Many replicas on one Redis: a single primary, one that Sentinel names, or a cluster.
struct RedisOptions {
  std::string url;  ///< `redis[s]://[user[:password]@]host[:port][/database]`
  /// How many replicas have to have what an answer reports, or it is none.
  int wait_replicas = 0;
  std::optional<std::string> sentinel_master;
  std::vector<std::string> sentinels;  ///< `host:port` each.
  bool cluster = false;                ///< The URL is one of its nodes.
  std::string state_dir;               ///< Of the witness; empty: none is kept over a restart.
  std::chrono::milliseconds deadline{1'000};  ///< Of one operation, as the caller sees it.
  std::optional<EventRetention> events;       ///< Absent: no transition log.
  std::string tls_ca;           ///< PEM file, for `rediss:`; empty: whom the system trusts.
  std::string tls_certificate;  ///< PEM file that is shown to the server; empty: none is.
  std::string tls_key;
};

/// Many replicas on one PostgreSQL.
struct PostgresOptions {
  std::string
      url;  ///< As libpq takes it: a URI, or `service=...` words; PGSERVICE and the like count.
  std::string state_dir;  ///< Of the witness; empty: none is kept over a restart.
  std::chrono::milliseconds deadline{1'000};  ///< Of one operation, as the caller sees it.
  std::optional<EventRetention> events;       ///< Absent: no transition log.
};
using StoreOptions = std::variant<MemoryOptions, SqliteOptions, RedisOptions, PostgresOptions>;

/// A bad start: the sentence names the file and the cure. Caught once, in main: exit code 2.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Another process has the store open.
class StoreInUse : public StoreError {
 public:
  using StoreError::StoreError;
};

/// Another process has the folder of the witness; whether it has the same store is not said.
class FolderInUse : public StoreInUse {
 public:
  using StoreInUse::StoreInUse;
};

/// Opens a store that exists. Never creates one: a missing file or schema is a StoreError that says
/// "run `semel store init CONFIG`". SQLite: claims of a dead process are settled here, EFFECTFUL to
/// indeterminate(owner_lost), IDEMPOTENT to absent, before the first answer.
/// @throws StoreError
[[nodiscard]] std::unique_ptr<Store> open_store(const StoreOptions& options,
                                                const StoreClock& clock);

/// Whether what an operator asks for is done, or shown: `--dry-run`.
enum class Execution : std::uint8_t { CarryOut, Show };

/// `semel store init`: creates the file or schema, visibly. One that is there already is left
/// untouched. Where there is no witness yet, the first one is written. @return a sentence that says
/// what was done; or what would be, in the words of the store. @throws StoreError
[[nodiscard]] std::string init_store(const StoreOptions& options,
                                     Execution execution = Execution::CarryOut);

/// What an operator's word met.
struct Acknowledged {
  bool was_suspect = false;  ///< Else there was nothing to acknowledge.
  std::string sentence;      ///< What was found and done.
};

/// `semel store acknowledge` beside the processes that serve: a store of one process is opened for
/// it, one of many is asked as they ask it.
/// @throws StoreInUse  Another process has the store, or the folder of the witness.
/// @throws StoreError
[[nodiscard]] Acknowledged acknowledge_store(const StoreOptions& options);

}  // namespace semel
