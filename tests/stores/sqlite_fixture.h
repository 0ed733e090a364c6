#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <utility>

#include "stores/open.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"

namespace semel::testing {

/// A store in a file that a test opens, closes and tampers with.
class SqliteFixture : public ::testing::Test {
 protected:
  SqliteFixture() {
    options_.path = folder_.path() + "/semel.db";
    options_.deadline = 30s;
  }
  ~SqliteFixture() override { close(); }

  void init() { static_cast<void>(init_store(options_)); }
  void open() { store_ = open_store(options_, clock_.clock()); }
  void close() {
    if (store_) store_->close();
    store_.reset();
  }
  void reopen() {
    close();
    open();
  }

  /// @return the sentence with which the store refuses to open; empty if it opens.
  std::string refusal() {
    try {
      open();
      return "";
    } catch (const StoreError& error) {
      return error.what();
    }
  }

  Result<ClaimReply> claim(const ClaimRequest& request) { return run(store_->claim(request)); }
  Attempt granted(const ClaimRequest& request) {
    const auto reply = claim(request);
    EXPECT_TRUE(reply && std::holds_alternative<Granted>(*reply)) << "not granted";
    if (!reply || !std::holds_alternative<Granted>(*reply)) return {request.key, request.token, {}};
    return {request.key, request.token, std::get<Granted>(*reply).fence};
  }
  WriteReply record(const Attempt& attempt, StoredResponsePtr response) {
    return run(store_->record(attempt, std::move(response))).value();
  }
  std::optional<RecordView> find(const IdempotencyKey& key) {
    return run(store_->find(key)).value();
  }

  /// Runs SQL on the closed file, as another program would. @return the first column of the last
  /// row.
  std::string sql(const std::string& text) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(options_.path.c_str(), &database), SQLITE_OK);
    std::string last;
    const auto keep = [](void* into, int, char** columns, char**) {
      *static_cast<std::string*>(into) = columns[0] ? columns[0] : "NULL";
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, text.c_str(), keep, &last, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    return last;
  }

  TemporaryFolder folder_;
  MovedClock clock_;
  SqliteOptions options_;
  std::unique_ptr<Store> store_;
};

}  // namespace semel::testing
