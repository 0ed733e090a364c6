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

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "stores/store.h"
#include "tests/stores/run.h"

namespace semel::testing {

using namespace std::chrono_literals;

/// How a suite comes by an empty store. The folder is the test's own and is removed afterwards.
struct StoreMaker {
  std::string name;
  std::function<std::unique_ptr<Store>(const StoreClock& clock, const std::string& folder)> make;
};

inline std::string maker_name(const ::testing::TestParamInfo<StoreMaker>& maker) {
  return maker.param.name;
}

/// Clocks that stand still until a test moves them, both at once.
class MovedClock {
 public:
  [[nodiscard]] StoreClock clock() const {
    StoreClock clock;
    clock.boot = [state = state_] {
      return std::chrono::nanoseconds(state->boot.fetch_add(state->step) + state->step);
    };
    clock.wall = [state = state_] {
      return std::chrono::system_clock::time_point(std::chrono::nanoseconds(state->wall));
    };
    return clock;
  }
  void advance(std::chrono::nanoseconds by) {
    state_->boot += by.count();
    state_->wall += by.count();
  }
  void jump_wall(std::chrono::nanoseconds by) { state_->wall += by.count(); }
  /// From now on time passes between any two looks at the boot clock.
  void pass_at_each_reading(std::chrono::nanoseconds step) { state_->step = step.count(); }

 private:
  struct State {
    std::atomic<std::int64_t> boot{1'000'000'000'000};
    std::atomic<std::int64_t> wall{1'760'000'000'000'000'000};
    std::atomic<std::int64_t> step{0};
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "semel-stores-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::string path_;
};

template <class Id>
Id id_of(std::uint64_t number) {
  Id id;
  for (std::size_t i = 0; i < 8; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>((number * 0x9E3779B97F4A7C15u) >> (8 * i));
    id.bytes[8 + i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return id;
}

/// An EFFECTFUL request of tenant `acme` for key number `key`, by attempt number `attempt`.
inline ClaimRequest request_of(std::uint64_t key, std::uint64_t attempt) {
  ClaimRequest request;
  request.key = id_of<IdempotencyKey>(key);
  request.token = id_of<ClaimToken>(attempt);
  request.reference = id_of<Reference>(attempt + 1'000'000);
  request.bindings.caller.bytes[0] = 1;
  request.bindings.guards.bytes[0] = 2;
  request.bindings.fingerprint.bytes[0] = 3;
  request.tenant = "acme";
  request.route = "book";
  request.lease = 30s;
  request.retention = 24h;
  return request;
}

inline StoredResponsePtr response_of(std::uint16_t status, std::string body) {
  auto response = std::make_shared<StoredResponse>();
  response->status = status;
  response->fields = {{"Content-Type", "text/plain"}, {"X-Twice", "1"}, {"X-Twice", "2"}};
  response->body = std::move(body);
  return response;
}

inline StoredResponsePtr response_without_body(std::uint16_t status) {
  auto response = std::make_shared<StoredResponse>();
  response->status = status;
  response->kept = BodyKept::NotKept;
  return response;
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

  MovedClock clock_;
  TemporaryFolder folder_;
  std::unique_ptr<Store> store_;
};

}  // namespace semel::testing

#include "tests/stores/conformance_claiming.h"
#include "tests/stores/conformance_operating.h"
#include "tests/stores/conformance_settling.h"
