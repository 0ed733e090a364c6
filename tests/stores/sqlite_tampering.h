#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/stores/faulty_vfs.h"
#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {

/// A store with a witness, whose files a test copies, moves and mixes.
class SqliteTampering : public SqliteFixture {
 protected:
  SqliteTampering() {
    FaultyDisk::instance().set(FaultyDisk::Mood::Well);
    options_.state_dir = folder_.path() + "/state";
  }

  /// So many completed calls, numbered on from the last ones.
  void complete(std::uint64_t calls, const std::string& answer = "answer") {
    for (std::uint64_t n = 0; n < calls; ++n) {
      calls_ += 1;
      record(granted(request_of(calls_, calls_)), response_of(200, answer));
    }
  }
  /// A closed store with that many completed calls.
  void make_store(std::uint64_t calls) {
    init();
    open();
    complete(calls);
    close();
  }
  /// A completed call that a suspect store lets through.
  void complete_harmless(std::uint64_t number) {
    auto harmless = request_of(number, number);
    harmless.policy = Policy::Idempotent;
    record(granted(harmless), response_of(200, "harmless"));
  }
  void expect_replays(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t n = first; n <= last; ++n) {
      const auto reply = claim(request_of(n, 1'000'000 + n));
      EXPECT_TRUE(reply && std::holds_alternative<Completed>(*reply)) << n;
    }
  }
  [[nodiscard]] std::string log_path() const { return options_.path + "-wal"; }
  [[nodiscard]] std::string aside(const std::string& name) const {
    return folder_.path() + "/aside-" + name;
  }
  static void copy(const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  }
  static std::string bytes_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
  StoreHealth health() { return run(store_->health()); }

  std::uint64_t calls_ = 0;
};

}  // namespace semel::testing
