#pragma once

// What every store has to do (docs/store-contract.md). For a store of your own:
//
//   #include "tests/stores/conformance.h"
//   INSTANTIATE_TEST_SUITE_P(Mine, StoreConformance, ::testing::Values(semel::testing::StoreMaker{
//       "mine", [](const semel::StoreClock& clock, const std::string& folder) { return ...; }}),
//       semel::testing::maker_name);
//
// In one source file of a program only: the header defines the tests.

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "stores/store.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"

namespace semel::testing {

/// How a suite comes by an empty store. The folder is the test's own and is removed afterwards; the
/// file `clock` in it, or in the folder around that, moves the clock of a server
/// (support/moved_wall.h).
struct StoreMaker {
  using MakeWithLog = std::function<std::unique_ptr<Store>(
      const StoreClock& clock, const std::string& folder, const EventRetention& events)>;

  std::string name;
  std::function<std::unique_ptr<Store>(const StoreClock& clock, const std::string& folder)> make;
  /// Makes an empty one that keeps a transition log. Null: there is none, and its tests are
  /// skipped.
  MakeWithLog make_with_log = nullptr;
  /// Opens the one that make_with_log() made in that folder, once it is closed. Null: it ended
  /// then.
  MakeWithLog reopen_with_log = nullptr;
};

inline void PrintTo(const StoreMaker& maker, std::ostream* out) { *out << maker.name; }

inline std::string maker_name(const ::testing::TestParamInfo<StoreMaker>& maker) {
  return maker.param.name;
}

class StoreConformance : public ::testing::TestWithParam<StoreMaker> {
 protected:
  StoreConformance() : store_(GetParam().make(clock_.clock(), folder_.path())) {}
  ~StoreConformance() override { store_->close(); }

  Result<ClaimReply> claim(const ClaimRequest& request) { return run(store_->claim(request)); }
  Result<WriteReply> record(const Attempt& attempt, StoredResponsePtr response) {
    return run(store_->record(attempt, std::move(response)));
  }
  Result<WriteReply> mark(const Attempt& attempt, IndeterminateReason reason,
                          std::optional<std::uint16_t> status = std::nullopt) {
    return run(store_->mark_indeterminate(attempt, reason, status));
  }
  Result<WriteReply> release(const Attempt& attempt) { return run(store_->release(attempt)); }
  Result<ResolveReply> resolve(const Reference& reference, Resolution::Decision decision,
                               StoredResponsePtr response = nullptr) {
    Resolution resolution;
    resolution.decision = decision;
    resolution.response = std::move(response);
    return run(store_->resolve(reference, resolution));
  }
  std::optional<RecordView> find(const IdempotencyKey& key) {
    auto found = run(store_->find(key));
    EXPECT_TRUE(found.has_value());
    return found ? *found : std::nullopt;
  }

  /// Claims and says who holds it now. The test ends here if the claim was not granted.
  Attempt granted(const ClaimRequest& request) {
    const auto reply = claim(request);
    const auto* grant = reply ? std::get_if<Granted>(&*reply) : nullptr;
    EXPECT_TRUE(grant) << "the claim was not granted";
    return {request.key, request.token, grant ? grant->fence : Fence{}};
  }
  /// The answer to `request`, which has to be of this kind.
  template <class Reply>
  Reply told(const ClaimRequest& request) {
    const auto reply = claim(request);
    EXPECT_TRUE(reply.has_value());
    const auto* told = reply ? std::get_if<Reply>(&*reply) : nullptr;
    EXPECT_TRUE(told) << "another reply: variant " << (reply ? reply->index() : 99);
    return told ? *told : Reply{};
  }

  /// From here on the store is an empty one that keeps a transition log.
  /// @return False where there is none of this kind: the test is to be skipped.
  bool begin_log(const EventRetention& kept = {}, const std::string& name = "log") {
    if (!GetParam().make_with_log) return false;
    store_->close();
    log_folder_ = folder_.path() + "/" + name;
    std::filesystem::create_directory(log_folder_);
    store_ = GetParam().make_with_log(clock_.clock(), log_folder_, kept);
    return true;
  }
  /// The same store after a restart. @return False where it does not outlive its process.
  bool restart_with_log(const EventRetention& kept = {}) {
    if (!GetParam().reopen_with_log) return false;
    store_->close();
    store_.reset();
    store_ = GetParam().reopen_with_log(clock_.clock(), log_folder_, kept);
    return true;
  }

  TemporaryFolder folder_;
  MovedClock clock_{folder_.path() + "/clock"};
  std::string log_folder_;  ///< Of the store with the log.
  std::unique_ptr<Store> store_;
};

}  // namespace semel::testing

#include "tests/stores/conformance_claiming.h"
#include "tests/stores/conformance_disowning.h"
#include "tests/stores/conformance_earlier.h"
#include "tests/stores/conformance_event_log.h"
#include "tests/stores/conformance_event_trimming.h"
#include "tests/stores/conformance_event_windows.h"
#include "tests/stores/conformance_events.h"
#include "tests/stores/conformance_operating.h"
#include "tests/stores/conformance_resolving.h"
#include "tests/stores/conformance_settling.h"
#include "tests/stores/conformance_windows.h"
