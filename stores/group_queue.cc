#include "stores/group_queue.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <functional>

namespace semel {
namespace {

/// More than this many calls waiting means that the disk cannot follow: refuse instead of growing.
constexpr std::size_t kQueuedMax = 65'536;
/// One group's worth: keeps a single transaction, and the wait for it, bounded.
constexpr std::size_t kGroupMax = 4'096;
/// The watch looks this many times within one deadline.
constexpr int kLooksPerDeadline = 8;

}  // namespace

/// The settled calls of one executor, posted to it as one piece of work.
class GroupQueue::WakeUp {
 public:
  explicit WakeUp(CallGroup calls) : calls_(std::move(calls)) {}
  WakeUp(WakeUp&&) = default;
  WakeUp& operator=(WakeUp&&) = delete;
  ~WakeUp() {
    for (const auto& call : calls_) call->abandon();
  }
  void operator()() {
    for (const auto& call : calls_) call->resume();
  }

 private:
  CallGroup calls_;
};

GroupQueue::GroupQueue(std::chrono::milliseconds deadline)
    : deadline_(deadline), watch_([this] { watch(); }) {}

GroupQueue::~GroupQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    ended_ = true;
  }
  arrived_.notify_all();
  closing_.notify_all();
  watch_.join();
}

void GroupQueue::push(std::shared_ptr<WaitingCall> call) {
  {
    const std::lock_guard lock(mutex_);
    if (!closed_ && queued_.size() < kQueuedMax) {
      queued_.push_back(std::move(call));
      if (queued_.size() == 1) arrived_.notify_one();
      return;
    }
  }
  if (call->settle(WaitingCall::State::Answered)) wake({std::move(call)});
}

const CallGroup& GroupQueue::take() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return closed_ || !queued_.empty(); });
  const std::size_t size = std::min(queued_.size(), kGroupMax);
  const auto end = queued_.begin() + static_cast<std::ptrdiff_t>(size);
  running_.assign(std::make_move_iterator(queued_.begin()), std::make_move_iterator(end));
  queued_.erase(queued_.begin(), end);
  return running_;
}

void GroupQueue::answer() {
  CallGroup settled;
  {
    const std::lock_guard lock(mutex_);
    settled.swap(running_);
  }
  std::erase_if(settled,
                [](const auto& call) { return !call->settle(WaitingCall::State::Answered); });
  wake(std::move(settled));
}

void GroupQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  arrived_.notify_all();
}

void GroupQueue::watch() {
  std::unique_lock lock(mutex_);
  while (!closing_.wait_for(lock, deadline_ / kLooksPerDeadline, [this] { return ended_; })) {
    const auto asked_before = std::chrono::steady_clock::now() - deadline_;
    CallGroup late;
    for (const CallGroup* calls : {&running_, &queued_}) {
      for (const auto& call : *calls) {
        if (call->asked_ < asked_before && call->settle(WaitingCall::State::TimedOut)) {
          late.push_back(call);
        }
      }
    }
    if (late.empty()) continue;
    lock.unlock();
    wake(std::move(late));
    lock.lock();
  }
}

void GroupQueue::wake(CallGroup settled) {
  const auto home = [](const auto& call) { return &call->executor_.context(); };
  std::sort(settled.begin(), settled.end(),
            [&](const auto& a, const auto& b) { return std::less<>()(home(a), home(b)); });
  for (auto at = settled.begin(); at != settled.end();) {
    const auto end =
        std::find_if(at, settled.end(), [&](const auto& call) { return home(call) != home(*at); });
    const Executor executor = (*at)->executor_;
    CallGroup batch(std::make_move_iterator(at), std::make_move_iterator(end));
    asio::post(executor, WakeUp(std::move(batch)));
    at = end;
  }
}

}  // namespace semel
