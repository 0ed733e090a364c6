#include "stores/open.h"

#include <filesystem>
#include <system_error>

#include "stores/memory_store.h"
#include "stores/postgres_store.h"
#include "stores/redis_store.h"
#include "stores/sqlite_file.h"
#include "stores/sqlite_store.h"

namespace semel {
namespace {

// One line for each store; a store without one does not compile.

struct Open {
  const StoreClock& clock;
  std::unique_ptr<Store> operator()(const MemoryOptions& options) const {
    return std::make_unique<MemoryStore>(options, clock);
  }
  std::unique_ptr<Store> operator()(const SqliteOptions& options) const {
    return std::make_unique<SqliteStore>(options, clock);
  }
  std::unique_ptr<Store> operator()(const RedisOptions& options) const {
    return std::make_unique<RedisStore>(options, clock);
  }
  std::unique_ptr<Store> operator()(const PostgresOptions& options) const {
    return std::make_unique<PostgresStore>(options, clock);
  }
};

std::string sqlite_init_in_words(const SqliteOptions& sqlite) {
  std::error_code ignored;
  if (std::filesystem::exists(sqlite.path, ignored)) {
    return sqlite.path + " is there already: it would be left untouched";
  }
  sqlite::expect_folder(sqlite.path);
  return "would make the store " + sqlite.path;
}

struct Init {
  Execution execution;
  std::string operator()(const MemoryOptions&) const {
    return "the memory store needs no initialisation: it lives and ends with its process";
  }
  std::string operator()(const SqliteOptions& options) const {
    if (execution == Execution::Show) return sqlite_init_in_words(options);
    return SqliteStore::create(options, StoreClock::real());
  }
  std::string operator()(const RedisOptions& options) const {
    return RedisStore::create(options, execution);
  }
  std::string operator()(const PostgresOptions& options) const {
    return PostgresStore::create(options, execution);
  }
};

struct Acknowledge {
  Acknowledged operator()(const MemoryOptions&) const {
    return {false, "the memory store is never suspect: it lives and ends with its process"};
  }
  Acknowledged operator()(const SqliteOptions& options) const {
    return SqliteStore::acknowledge_closed(options, StoreClock::real());
  }
  Acknowledged operator()(const RedisOptions& options) const {
    return RedisStore::acknowledge_closed(options, StoreClock::real());
  }
  Acknowledged operator()(const PostgresOptions& options) const {
    return PostgresStore::acknowledge_closed(options, StoreClock::real());
  }
};

}  // namespace

std::unique_ptr<Store> open_store(const StoreOptions& options, const StoreClock& clock) {
  return std::visit(Open{clock}, options);
}

std::string init_store(const StoreOptions& options, Execution execution) {
  return std::visit(Init{execution}, options);
}

Acknowledged acknowledge_store(const StoreOptions& options) {
  return std::visit(Acknowledge{}, options);
}

}  // namespace semel
