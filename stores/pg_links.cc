#include "stores/pg_links.h"

#include <algorithm>
#include <atomic>

#include "stores/link_set.h"
#include "stores/pg_link.h"
#include "stores/pg_listener.h"
#include "stores/pg_standing.h"
#include "stores/pg_target.h"

namespace semel {
namespace {

/// The connections of one worker.
struct WorkerLinks {
  std::vector<std::shared_ptr<PgLink>> links;
};

/// What is left of the deadline once the server has given up is for the way there and back. A lock
/// is waited for only so long as the calls behind it on this connection can bear.
PgTarget::Patience server_patience(std::chrono::milliseconds deadline) {
  return {deadline * 9 / 10, deadline / 4};
}

constexpr std::chrono::milliseconds kConnectPatienceMax{700};

}  // namespace

struct PgLinks::Impl {
  PgLinkTerms terms;
  PgListening listening;
  std::size_t connections;
  LinkSet<WorkerLinks> workers;
  std::shared_ptr<PgListener> listener;  ///< Of the worker that called first.
  std::atomic<bool> is_closed = false;

  std::shared_ptr<WorkerLinks> of(const Executor& executor) {
    return workers.of(executor, [this](const Executor& worker, std::size_t index) {
      auto made = std::make_shared<WorkerLinks>();
      PgLinkTerms terms_here = terms;
      terms_here.left_behind = std::make_shared<PgLeftBehind>();
      for (std::size_t i = 0; i < connections; ++i) {
        made->links.push_back(
            std::make_shared<PgLink>(worker, index * connections + i, terms_here));
        made->links.back()->start();
      }
      if (index == 0 && !listening.channel.empty()) {
        listener = std::make_shared<PgListener>(worker, terms, listening);
        listener->start();
      }
      return made;
    });
  }
};

PgLinks::PgLinks(const PostgresOptions& options, PgLinkOptions link_options)
    : impl_(std::make_unique<Impl>()) {
  PgLinkTerms& terms = impl_->terms;
  terms.target = std::make_shared<PgTarget>(options.url, server_patience(options.deadline));
  terms.standing = std::make_shared<PgStanding>();
  terms.deadline = options.deadline;
  terms.patience = std::min(kConnectPatienceMax, options.deadline * 7 / 10);
  terms.admission = std::move(link_options.admission);
  impl_->listening = std::move(link_options.listening);
  impl_->connections = link_options.connections_per_worker;
}

PgLinks::~PgLinks() { close(); }

Task<Result<PgRows>> PgLinks::call(const PgStatement& statement, std::size_t spread,
                                   std::vector<PgValue> params) {
  if (impl_->is_closed) co_return Fault::StoreUnreachable;
  const Executor executor = co_await asio::this_coro::executor;
  const auto worker = impl_->of(executor);
  auto link = worker->links[spread % worker->links.size()];
  co_return co_await PgLink::call(std::move(link), statement, std::move(params));
}

void PgLinks::tell(const Executor& executor, const PgStatement& statement, std::size_t spread,
                   std::vector<PgValue> params) {
  if (impl_->is_closed) return;
  const auto worker = impl_->of(executor);
  worker->links[spread % worker->links.size()]->tell(statement, std::move(params));
}

std::size_t PgLinks::lane_of(const Executor& executor, std::size_t spread) {
  if (impl_->is_closed) return 0;  // The call itself will be refused.
  const auto worker = impl_->of(executor);
  return worker->links[spread % worker->links.size()]->lane();
}

std::chrono::steady_clock::time_point PgLinks::ghosts_until() const {
  return impl_->terms.standing->ghosts_until();
}

PgLinksState PgLinks::state() const {
  const PgStanding& standing = *impl_->terms.standing;
  return {standing.is_up(), standing.facts(), standing.trouble()};
}

void PgLinks::close() {
  if (impl_->is_closed.exchange(true)) return;
  for (const auto& worker : impl_->workers.all()) {
    for (const auto& link : worker->links) link->close();
  }
  if (impl_->listener) impl_->listener->close();
}

}  // namespace semel
