#include "tests/stores/conformance.h"

#include "stores/open.h"

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

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance,
                         ::testing::Values(StoreMaker{"memory", make_memory, make_memory_with_log},
                                           StoreMaker{"sqlite", make_sqlite, make_sqlite_with_log,
                                                      reopen_sqlite}),
                         maker_name);

}  // namespace
}  // namespace semel::testing
