#include "stores/open.h"

#include "stores/memory_store.h"
#include "stores/sqlite_store.h"

namespace semel {

std::unique_ptr<Store> open_store(const StoreOptions& options, const StoreClock& clock) {
  if (const auto* memory = std::get_if<MemoryOptions>(&options)) {
    return std::make_unique<MemoryStore>(*memory, clock);
  }
  return std::make_unique<SqliteStore>(std::get<SqliteOptions>(options), clock);
}

std::string init_store(const StoreOptions& options) {
  if (std::holds_alternative<MemoryOptions>(options)) {
    return "the memory store needs no initialisation: it lives and ends with its process";
  }
  return SqliteStore::create(std::get<SqliteOptions>(options), StoreClock::real());
}

Acknowledged acknowledge_store(const StoreOptions& options) {
  if (std::holds_alternative<MemoryOptions>(options)) {
    return {false, "the memory store is never suspect: it lives and ends with its process"};
  }
  return SqliteStore::acknowledge_closed(std::get<SqliteOptions>(options), StoreClock::real());
}

}  // namespace semel
