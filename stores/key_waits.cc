// Followers that wait for news from another process. Each waits on a timer of its own; who wakes it
// posts to its executor, so a timer is only ever touched on its own worker.
#include "stores/key_waits.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <iterator>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace semel {
namespace {

using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

}  // namespace

struct KeyWaits::Waiter {
  Waiter(const Executor& home, Clock::time_point until) : executor(home), timer(home, until) {}
  Executor executor;
  Timer timer;
};

struct KeyWaits::Board {
  using Waiters = std::vector<std::shared_ptr<Waiter>>;

  static void end(Waiters woken) {
    for (auto& waiter : woken) {
      const Executor home = waiter->executor;
      asio::post(home, [waiter = std::move(waiter)] { waiter->timer.cancel(); });
    }
  }

  std::mutex mutex;
  std::unordered_map<IdempotencyKey, Waiters, KeyHash> waiting;
  std::size_t waiters = 0;
};

/// A place among those who wait for one key. Given back also where the coroutine is destroyed
/// instead of resumed: its timer ends with its worker.
class KeyWaits::Place {
 public:
  Place(std::shared_ptr<Board> board, const IdempotencyKey& key, std::shared_ptr<Waiter> waiter)
      : board_(std::move(board)), key_(key), waiter_(std::move(waiter)) {
    const std::lock_guard lock(board_->mutex);
    if (board_->waiters >= kWaitersMax) return;
    board_->waiting[key_].push_back(waiter_);
    ++board_->waiters;
  }
  ~Place() {
    const std::lock_guard lock(board_->mutex);
    const auto found = board_->waiting.find(key_);
    if (found == board_->waiting.end()) return;
    board_->waiters -= std::erase(found->second, waiter_);
    if (found->second.empty()) board_->waiting.erase(found);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

 private:
  const std::shared_ptr<Board> board_;
  const IdempotencyKey key_;
  const std::shared_ptr<Waiter> waiter_;
};

KeyWaits::KeyWaits() : board_(std::make_shared<Board>()) {}

Task<void> KeyWaits::wait(IdempotencyKey key, Clock::time_point until) {
  const Executor home = co_await asio::this_coro::executor;
  const auto waiter = std::make_shared<Waiter>(home, until);
  const Place place(board_, key, waiter);
  co_await waiter->timer.async_wait(kNoThrow);
}

void KeyWaits::wake(const IdempotencyKey& key) {
  Board::Waiters woken;
  {
    const std::lock_guard lock(board_->mutex);
    const auto found = board_->waiting.find(key);
    if (found == board_->waiting.end()) return;
    woken = std::move(found->second);
    board_->waiting.erase(found);
    board_->waiters -= woken.size();
  }
  Board::end(std::move(woken));
}

void KeyWaits::wake_all() {
  Board::Waiters woken;
  {
    const std::lock_guard lock(board_->mutex);
    for (auto& [key, waiters] : board_->waiting) {
      std::move(waiters.begin(), waiters.end(), std::back_inserter(woken));
    }
    board_->waiting.clear();
    board_->waiters = 0;
  }
  Board::end(std::move(woken));
}

bool KeyWaits::is_awaited() const {
  const std::lock_guard lock(board_->mutex);
  return board_->waiters != 0;
}

}  // namespace semel
