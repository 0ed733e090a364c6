#include "stores/open.h"

#include <filesystem>
#include <system_error>

#include "stores/memory_store.h"
#include "stores/sqlite_store.h"

namespace semel {
namespace {

std::string sqlite_init_in_words(const SqliteOptions& sqlite) {
  std::error_code ignored;
  if (std::filesystem::exists(sqlite.path, ignored)) {
    return sqlite.path + " is there already: it would be left untouched";
  }
  return "would make the store " + sqlite.path;
}

}  // namespace

std::unique_ptr<Store> open_store(const StoreOptions& options, const StoreClock& clock) {
  if (const auto* memory = std::get_if<MemoryOptions>(&options)) {
    return std::make_unique<MemoryStore>(*memory, clock);
  }
  return std::make_unique<SqliteStore>(std::get<SqliteOptions>(options), clock);
}

std::string init_store(const StoreOptions& options, Execution execution) {
  if (std::holds_alternative<MemoryOptions>(options)) {
    return "the memory store needs no initialisation: it lives and ends with its process";
  }
  const auto& sqlite = std::get<SqliteOptions>(options);
  if (execution == Execution::Show) return sqlite_init_in_words(sqlite);
  return SqliteStore::create(sqlite, StoreClock::real());
}

Acknowledged acknowledge_store(const StoreOptions& options) {
  if (std::holds_alternative<MemoryOptions>(options)) {
    return {false, "the memory store is never suspect: it lives and ends with its process"};
  }
  return SqliteStore::acknowledge_closed(std::get<SqliteOptions>(options), StoreClock::real());
}

}  // namespace semel
