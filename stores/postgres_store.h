#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stores/key_waits.h"
#include "stores/open.h"
#include "stores/pace.h"
#include "stores/pg_links.h"
#include "stores/pg_session.h"
#include "stores/postgres_meeting.h"
#include "stores/store.h"

namespace semel {

namespace postgres {
struct ClaimAnswer;
struct ClaimingAs;
}  // namespace postgres

/// Records that many replicas share, in the schema `semel` of a PostgreSQL database. Each operation
/// is one function call at the server, in a transaction of its own; calls on different keys wait
/// for nothing of each other.
///
/// @owns   Every io_context that calls has to live until close() has returned.
/// @source docs/record-format.md, "In PostgreSQL".
class PostgresStore final : public Store {
 public:
  /// Asks the server once before it returns.
  /// @throws StoreError if it cannot be reached, or holds no store of this version.
  PostgresStore(const PostgresOptions& options, const StoreClock& clock);
  ~PostgresStore() override;

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

  /// `semel store init`: makes the schema, in one transaction. A store that is there is left
  /// untouched. @return what was done, or the SQL that would be carried out. @throws StoreError
  [[nodiscard]] static std::string create(const PostgresOptions& options, Execution execution);
  /// acknowledge() for a process that does not run. @throws StoreError, StoreInUse
  [[nodiscard]] static Acknowledged acknowledge_closed(const PostgresOptions& options,
                                                       const StoreClock& clock);

 private:
  /// What belongs to no key is asked on one connection of each worker, in order.
  static constexpr std::size_t kHouse = 0;

  /// One call of a function that says the server's time first.
  /// @return At least one row.
  [[nodiscard]] Task<Result<PgRows>> ask(const PgStatement& statement, std::size_t spread,
                                         std::vector<PgValue> params);
  [[nodiscard]] Task<Result<ClaimReply>> take(ClaimRequest request,
                                              std::optional<Attempt> abandoned);
  [[nodiscard]] Task<postgres::ClaimAnswer> take_as(const postgres::ClaimingAs& as,
                                                    const ClaimRequest& request,
                                                    const std::optional<Attempt>& abandoned,
                                                    std::size_t spread);
  /// What a write was told. Whoever waits for the record is woken: what the row says is committed.
  [[nodiscard]] Result<WriteReply> ended(const Executor& executor, const IdempotencyKey& key,
                                         const PgRow& row);
  /// Nobody waits for it, and it may get lost: then they look by themselves, a little later.
  /// @param keys  An array of them.
  void wake(const Executor& executor, std::size_t spread, PgValue keys);
  [[nodiscard]] Task<Result<std::optional<RecordView>>> found(PgValue key, PgValue reference);
  [[nodiscard]] Task<Result<void>> forget_events(std::string tenant);
  /// True while a call that is given up for lost may still be carried out.
  [[nodiscard]] bool is_haunted() const;
  [[nodiscard]] bool tells() const { return options_.events.has_value(); }
  [[nodiscard]] Task<Result<SweepReport>> sweep_batch(std::size_t limit);
  [[nodiscard]] Task<Result<PgRows>> look();
  [[nodiscard]] Task<Result<void>> meet();
  /// The server's settings, asked anew once they are a minute old.
  [[nodiscard]] Task<> refresh_facts();

  const PostgresOptions options_;
  const std::shared_ptr<postgres::Meeting> meeting_;
  const std::shared_ptr<KeyWaits> waits_;
  Pace facts_age_{std::chrono::seconds(60)};
  /// How often this process says that it is there: what is noted of it is kept for 30 days and
  /// more.
  Pace renewal_{std::chrono::hours(1)};
  std::unique_ptr<PgLinks> links_;
};

}  // namespace semel
