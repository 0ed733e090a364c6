#pragma once

#include <functional>
#include <memory>

#include "tests/sim/process.h"
#include "tests/sim/store_server.h"

namespace semel::sim {

/// How bad the way to the store is, in permille of the calls.
struct StoreWeather {
  unsigned request_lost = 5;
  unsigned reply_lost = 5;
  unsigned slow = 20;      ///< Past the deadline, more or less.
  unsigned repeated = 20;  ///< The request arrives a second time.
};

/// The store as one proxy sees it: every call travels, is carried out by the StoreServer at one
/// moment, and its answer travels back, or does not. Deadline and `not_after` are kept as the
/// stores keep them that answer from elsewhere (docs/store-contract.md).
class WireStore final : public Store {
 public:
  static constexpr std::chrono::milliseconds kDeadline{1'000};

  /// What the wires of all proxies share.
  struct Exchange {
    Timeline& timeline;
    Dice dice;
    StoreWeather weather;
    StoreServer& server;
    History& history;
    /// Asked before a call leaves and when its answer has been read.
    std::function<Fate(Process&)> on_call;
  };

  /// @param owner  Whose wire it is; must outlive what is under way.
  WireStore(Exchange& exchange, Process& owner) : exchange_(exchange), owner_(owner) {}

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
  Task<Result<std::vector<semel::RouteTerms>>> routes() override;
  Task<Result<void>> adopt_routes(std::vector<semel::RouteTerms> routes) override;
  Task<Result<SweepReport>> sweep(std::size_t limit) override;
  Task<StoreHealth> health() override;
  Task<Result<bool>> acknowledge() override;
  void close() override {}

 private:
  template <class T>
  struct Call;
  template <class T, class Step>
  Task<Result<T>> ask(Step step);
  template <class Step>
  Task<Result<WriteReply>> write(Step step);
  /// Lets the request travel once, and its answer back.
  template <class T, class Step>
  void send(const std::shared_ptr<Call<T>>& call, Step step);
  [[nodiscard]] Task<Result<ClaimReply>> asked(ClaimRequest request,
                                               std::optional<Attempt> abandoned);
  void stopping_point();
  void note_fault();

  Exchange& exchange_;
  Process& owner_;
};

}  // namespace semel::sim
