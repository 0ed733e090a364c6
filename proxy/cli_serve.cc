// The commands that open or create a store.
#include "proxy/cli_serve.h"

#include <optional>
#include <ostream>
#include <stdexcept>

#include "config/load.h"
#include "proxy/access_log.h"
#include "proxy/acknowledge.h"
#include "proxy/audit_log.h"
#include "proxy/server.h"
#include "proxy/store_choice.h"
#include "proxy/unbuilt.h"
#include "stores/open.h"
#include "stores/state_lock.h"

namespace semel::proxy {
namespace {

void refuse_unbuilt(const config::Config& config) {
  for (const std::string& what : unbuilt(config)) {
    throw std::runtime_error(config.file + ": " + what + " is not part of this version; remove it");
  }
}

/// A replica that runs on this folder notes by itself what it knows of its store; the word goes to
/// the store all the same.
Acknowledged acknowledge_beside(config::Config config) {
  try {
    return acknowledge_store(store_options(config));
  } catch (const FolderInUse& failure) {
    // The store of one process: whoever has the folder may have another one open.
    if (sharing_of(config) == Agreement::Sharing::Alone) throw StoreError(failure.what());
  }
  config.state_dir.clear();
  return acknowledge_store(store_options(config));
}

/// The process that has the store open gives it the word; where none has, we do, and tell it in the
/// same log.
int acknowledge(const config::Config& config, std::ostream& out, std::ostream& err) {
  AuditLog audit(open_access_log(config.access_log));  // What cannot be told is not done.
  AuditEntry entry;
  entry.action = "acknowledge";
  entry.operator_name = user_at_the_keyboard();
  entry.result = "refused";
  try {
    const Acknowledged found = acknowledge_beside(config);
    entry.result = found.was_suspect ? "done" : "not_suspect";
    audit.write(entry);
    out << found.sentence << "\n";
    return 0;
  } catch (const StoreInUse& failure) {
    if (!config.admin) {
      audit.write(entry);
      err << failure.what() << "\nA running semel acknowledges through its admin listener.\n";
      return 2;
    }
  } catch (const StoreError&) {
    audit.write(entry);
    throw;
  }
  return acknowledge_running(config, out, err);
}

config::Config load(const std::string& file) {
  config::Config config = config::load_file(file, config::process_environment());
  refuse_unbuilt(config);
  return config;
}

/// `CONFIG [--acknowledge ROUTE]...`, in any order.
struct ServeWords {
  std::string file;
  std::vector<std::string> acknowledged;
};

std::optional<ServeWords> read_words(std::span<const std::string> args) {
  ServeWords words;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--acknowledge" && i + 1 < args.size()) {
      words.acknowledged.push_back(args[++i]);
    } else if (words.file.empty() && !args[i].starts_with("--")) {
      words.file = args[i];
    } else {
      return std::nullopt;
    }
  }
  if (words.file.empty()) return std::nullopt;
  return words;
}

/// `init CONFIG [--dry-run]`, its last two in any order, or `acknowledge CONFIG`.
struct StoreWords {
  enum class Order : std::uint8_t { Init, Acknowledge };
  Order order = Order::Init;
  std::string file;
  Execution execution = Execution::CarryOut;
};

std::optional<StoreWords> read_store_words(std::span<const std::string> args) {
  StoreWords words;
  if (args.empty() || (args[0] != "init" && args[0] != "acknowledge")) return std::nullopt;
  if (args[0] == "acknowledge") words.order = StoreWords::Order::Acknowledge;
  for (const std::string& word : args.subspan(1)) {
    const bool may_be_shown = words.order == StoreWords::Order::Init;
    if (word == "--dry-run" && may_be_shown && words.execution == Execution::CarryOut) {
      words.execution = Execution::Show;
    } else if (words.file.empty() && !word.starts_with("--")) {
      words.file = word;
    } else {
      return std::nullopt;
    }
  }
  if (words.file.empty()) return std::nullopt;
  return words;
}

}  // namespace

int run_serve(std::span<const std::string> args, std::ostream& err) {
  const std::optional<ServeWords> words = read_words(args);
  if (!words) {
    err << "usage: semel serve CONFIG [--acknowledge ROUTE]...\n";
    return 2;
  }
  try {
    config::Config config = load(words->file);
    Beginning beginning;
    // A SQLite store locks the folder together with its file.
    const bool is_for_token_alone = std::holds_alternative<config::MemoryStore>(config.store) &&
                                    config.admin && config.admin->token.empty();
    const StateLock folder(is_for_token_alone ? config.state_dir : "");
    beginning.store = open_store(store_options(config), StoreClock::real());
    beginning.config = std::move(config);
    beginning.acknowledged = words->acknowledged;
    beginning.load = [file = words->file] { return load(file); };
    return serve(std::move(beginning), err);
  } catch (const std::exception& failure) {
    err << failure.what() << "\n";
    return 2;
  }
}

int run_store(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
  const std::optional<StoreWords> words = read_store_words(args);
  if (!words) {
    err << "usage: semel store init CONFIG [--dry-run]\n       semel store acknowledge CONFIG\n";
    return 2;
  }
  try {
    const config::Config config = load(words->file);
    if (words->order == StoreWords::Order::Acknowledge) return acknowledge(config, out, err);
    out << init_store(store_options(config), words->execution) << "\n";
    return 0;
  } catch (const std::exception& failure) {
    err << failure.what() << "\n";
    return 2;
  }
}

}  // namespace semel::proxy
