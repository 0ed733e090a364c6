#include "tests/stores/conformance.h"

#include "stores/open.h"
#include "tests/stores/postgres_fixture.h"
#include "tests/stores/redis_fixture.h"

namespace semel::testing {
namespace {

std::unique_ptr<Store> make_memory(const StoreClock& clock, const std::string&) {
  return open_store(MemoryOptions{}, clock);
}

std::unique_ptr<Store> make_memory_with_log(const StoreClock& clock, const std::string&,
                                            const EventRetention& events) {
  MemoryOptions options;
  options.events = events;
  return open_store(options, clock);
}

std::unique_ptr<Store> make_sqlite(const StoreClock& clock, const std::string& folder) {
  SqliteOptions options;
  options.path = folder + "/semel.db";
  options.deadline = 30s;
  static_cast<void>(init_store(options));
  return open_store(options, clock);
}

std::unique_ptr<Store> reopen_sqlite(const StoreClock& clock, const std::string& folder,
                                     const EventRetention& events) {
  SqliteOptions options;
  options.path = folder + "/semel.db";
  options.deadline = 30s;
  options.events = events;
  return open_store(options, clock);
}

std::unique_ptr<Store> make_sqlite_with_log(const StoreClock& clock, const std::string& folder,
                                            const EventRetention& events) {
  SqliteOptions options;
  options.path = folder + "/semel.db";
  static_cast<void>(init_store(options));
  return reopen_sqlite(clock, folder, events);
}

std::unique_ptr<Store> make_redis(const StoreClock& clock, const std::string& folder) {
  return store_on(options_on(RedisServers::beside(folder).server), clock);
}

/// On a new server, or on the one that is there.
std::unique_ptr<Store> make_redis_with_log(const StoreClock& clock, const std::string& folder,
                                           const EventRetention& events) {
  RedisOptions options = options_on(RedisServers::beside(folder).server);
  options.events = events;
  return store_on(options, clock);
}

std::unique_ptr<Store> make_postgres(const StoreClock& clock, const std::string& folder) {
  return store_on(options_on(PostgresServers::beside(folder).server), clock);
}

/// On a new server, or on the one that is there.
std::unique_ptr<Store> make_postgres_with_log(const StoreClock& clock, const std::string& folder,
                                              const EventRetention& events) {
  PostgresOptions options = options_on(PostgresServers::beside(folder).server);
  options.events = events;
  return store_on(options, clock);
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreConformance,
    ::testing::Values(StoreMaker{"memory", make_memory, make_memory_with_log},
                      StoreMaker{"sqlite", make_sqlite, make_sqlite_with_log, reopen_sqlite},
                      StoreMaker{"redis", make_redis, make_redis_with_log, make_redis_with_log},
                      StoreMaker{"postgres", make_postgres, make_postgres_with_log,
                                 make_postgres_with_log}),
    maker_name);

}  // namespace
}  // namespace semel::testing
