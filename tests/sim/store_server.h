#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <optional>

#include "core/check.h"
#include "stores/open.h"
#include "stores/store.h"
#include "tests/sim/dice.h"
#include "tests/sim/history.h"
#include "tests/sim/hooks.h"
#include "tests/sim/timeline.h"

namespace semel::sim {

/// The one store of all proxies: the production's memory store behind a wire of its own. Each step
/// is carried out at one moment of virtual time, and what it changed is noted there.
class StoreServer {
 public:
  /// @param clock  Of the machine on which the store runs.
  StoreServer(const MemoryOptions& options, StoreClock clock, const Hooks& hooks,
              Timeline& timeline, History& history, Dice dice);

  /// A route's place in the history.
  [[nodiscard]] std::uint16_t route_of(std::string_view name) const;
  [[nodiscard]] bool is_up() const { return up_; }
  void set_up(bool up);
  /// From now on its disk is full, as far as so many permille of the writes see it.
  void fill(unsigned permille) { full_permille_ = permille; }
  /// True: this write is refused whole (StoreFull).
  [[nodiscard]] bool refuses_writes();
  [[nodiscard]] std::chrono::nanoseconds boot() const { return clock_.boot(); }

  /// What a call brings with it: who asks; 0: nobody's proxy.
  struct Asker {
    std::uint16_t proxy = 0;
  };

  /// @param abandoned  Whose place is to be taken: supersede(); absent: claim().
  Result<ClaimReply> claim(Asker asker, const ClaimRequest& request,
                           const std::optional<Attempt>& abandoned);
  Result<WriteReply> record(Asker asker, const Attempt& attempt, const StoredResponsePtr& response);
  Result<WriteReply> release(Asker asker, const Attempt& attempt);
  Result<WriteReply> mark(Asker asker, const Attempt& attempt, IndeterminateReason reason,
                          std::optional<std::uint16_t> status);
  Result<ResolveReply> resolve(const Reference& reference, const Resolution& resolution);
  Result<SweepReport> sweep(std::size_t limit);
  Result<std::size_t> forget(const std::string& tenant);
  Result<RecordPage> list(ListFilter filter);
  Result<std::optional<RecordView>> find(const IdempotencyKey& key);
  /// For everything that changes no record.
  [[nodiscard]] Store& store() { return *store_; }

  /// Runs a coroutine of the store, which never suspends, to its end.
  template <class T>
  T run(Task<T> task) {
    std::optional<T> result;
    asio::co_spawn(home_, std::move(task), [&](std::exception_ptr failure, T value) {
      SEMEL_CHECK(!failure);
      result.emplace(std::move(value));
    });
    home_.restart();
    home_.poll();
    SEMEL_CHECK(result.has_value());
    return *std::move(result);
  }

 private:
  [[nodiscard]] Happening note(Kind kind, Asker asker, const IdempotencyKey& key) const;
  [[nodiscard]] std::optional<RecordView> before(const IdempotencyKey& key);
  void note_grant(Happening noted, const ClaimRequest& request, const Granted& granted,
                  const std::optional<RecordView>& was, bool superseding);
  void note_stale(Happening noted, const Attempt& attempt);
  /// What housekeeping, or forgetting, has changed: the records of then against those of now.
  /// @param but  Whose change is noted by itself; null: nobody's.
  void note_difference(const std::vector<RecordView>& was, Kind erased,
                       const IdempotencyKey* but = nullptr);
  [[nodiscard]] std::vector<RecordView> all();

  const bool is_bounded_;  ///< A full one keeps house while it claims.
  StoreClock clock_;
  std::unique_ptr<Store> store_;
  Timeline& timeline_;
  History& history_;
  Dice dice_;
  asio::io_context home_{1};
  unsigned full_permille_ = 0;
  bool up_ = true;
};

/// The bytes of an id, for History.
template <class Id>
[[nodiscard]] std::string_view bytes_of(const Id& id) {
  return {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()};
}

}  // namespace semel::sim
