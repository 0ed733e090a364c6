#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stores/key_waits.h"
#include "stores/open.h"
#include "stores/redis_ghosts.h"
#include "stores/redis_link.h"
#include "stores/redis_log.h"
#include "stores/redis_meeting.h"
#include "stores/store.h"

namespace semel {

/// Records that many replicas share, in Redis: a single primary, one that Sentinel names, or a
/// cluster. Each operation is one script at the server; in a cluster the store is made of lanes,
/// whose keys live together, and fences and suspicion are a lane's own.
///
/// @owns   Every io_context that calls has to live until close() has returned.
/// @source docs/record-format.md, "In Redis".
class RedisStore final : public Store {
 public:
  /// Asks the servers once before it returns.
  /// @throws StoreError if they cannot be reached, hold no store, or may drop what they hold.
  RedisStore(const RedisOptions& options, const StoreClock& clock);
  ~RedisStore() override;

  Task<Result<ClaimReply>> claim(ClaimRequest request) override;
  Task<Result<WriteReply>> record(Attempt attempt, StoredResponsePtr response) override;
  Task<Result<WriteReply>> release(Attempt attempt) override;
  Task<Result<WriteReply>> mark_indeterminate(
      Attempt attempt, IndeterminateReason reason,
      std::optional<std::uint16_t> upstream_status) override;
  Task<Result<ClaimReply>> supersede(ClaimRequest request, Attempt abandoned) override;
  Task<Result<std::optional<RecordView>>> find(IdempotencyKey key) override;
  Task<Result<std::optional<RecordView>>> find(Reference reference) override;
  Task<Result<RecordPage>> list(ListFilter filter) override;
  Task<Result<ResolveReply>> resolve(Reference reference, Resolution resolution) override;
  Task<Result<std::size_t>> forget(std::string tenant) override;
  Task<Result<std::vector<RouteTerms>>> routes() override;
  Task<Result<void>> adopt_routes(std::vector<RouteTerms> routes) override;
  Task<Result<SweepReport>> sweep(std::size_t limit) override;
  Task<StoreHealth> health() override;
  Task<Result<bool>> acknowledge() override;
  Task<void> await_change(IdempotencyKey key, std::chrono::steady_clock::time_point until) override;
  Task<Result<std::variant<EventPage, EventGap>>> events(EventFilter filter) override;
  void close() override;

  /// `semel store init`: marks the lanes; a store that is there is left untouched, one that was
  /// begun is finished. @return what was done, or would be, as a sentence. @throws StoreError
  [[nodiscard]] static std::string create(const RedisOptions& options, Execution execution);
  /// acknowledge() for a process that does not run. @throws StoreError, StoreInUse
  [[nodiscard]] static Acknowledged acknowledge_closed(const RedisOptions& options,
                                                       const StoreClock& clock);

 private:
  RedisStore(const RedisOptions& options, std::shared_ptr<RedisMeeting> meeting);
  /// Runs a script on the lane's own keys, or on those and a record.
  [[nodiscard]] Task<Result<RedisTold>> ask(const RedisScript& script, std::size_t lane,
                                            std::vector<std::string> keys,
                                            std::vector<std::string> words,
                                            StoreTime not_after = StoreTime{0});
  /// The same for one of several questions that have one deadline together.
  [[nodiscard]] Task<Result<RedisTold>> ask_until(std::chrono::steady_clock::time_point until,
                                                  const RedisScript& script, std::size_t lane,
                                                  std::vector<std::string> keys,
                                                  std::vector<std::string> words,
                                                  StoreTime not_after = StoreTime{0});
  [[nodiscard]] std::chrono::steady_clock::time_point deadline_from(
      std::chrono::steady_clock::time_point asked) const {
    return asked + options_.deadline;
  }
  /// Has it written down in the lane that the server's clock has leapt.
  [[nodiscard]] Task<void> doubt(std::chrono::steady_clock::time_point until, std::size_t lane);
  [[nodiscard]] Task<Result<ClaimReply>> take(ClaimRequest request, Attempt abandoned);
  [[nodiscard]] Task<Result<std::optional<ClaimReply>>> look(
      std::chrono::steady_clock::time_point until, std::shared_ptr<const ClaimRequest> request);
  /// Meets the store again in one lane, where it is no longer the one that was met.
  [[nodiscard]] Task<Result<void>> meet(std::chrono::steady_clock::time_point until,
                                        std::size_t lane);
  /// Which key the attempt has, whatever lane it is in.
  [[nodiscard]] Task<Result<std::optional<IdempotencyKey>>> locate(Reference reference);
  [[nodiscard]] Task<Result<std::optional<RecordView>>> shown(IdempotencyKey key,
                                                              std::string reference);
  [[nodiscard]] Task<Result<RedisTold>> look_at(std::size_t lane);
  [[nodiscard]] Task<Result<bool>> acknowledge_lanes();
  [[nodiscard]] Task<Result<SweepReport>> sweep_lane(std::size_t lane, std::size_t limit);
  /// @return true: there is more to take out.
  [[nodiscard]] Task<Result<bool>> trim_lane(std::size_t lane);
  [[nodiscard]] Task<Result<std::size_t>> forget_in_lane(std::size_t lane, std::string tenant);
  [[nodiscard]] Task<Result<void>> forget_events_in_lane(std::size_t lane, std::string tenant);
  /// Reads at most so many events of one lane.
  [[nodiscard]] Task<Result<void>> read_log(std::shared_ptr<RedisLog> log, std::size_t lane,
                                            std::size_t most);
  [[nodiscard]] std::size_t lane_of(const IdempotencyKey& key) const;
  [[nodiscard]] std::size_t lanes() const { return meeting_->lanes(); }
  void listen();

  const RedisOptions options_;
  const std::shared_ptr<RedisMeeting> meeting_;
  const std::shared_ptr<KeyWaits> waits_;
  RedisLinks links_;
  RedisGhosts adopting_;  ///< Adoptions whose answer never came.
  std::atomic<std::size_t> next_swept_{0};
  std::atomic<bool> closed_{false};
  asio::io_context listening_{1};
  std::thread listener_;  ///< Hears of claims that ended in other processes.
};

}  // namespace semel
