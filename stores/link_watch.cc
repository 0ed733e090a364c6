#include "stores/link_watch.h"

#include "io/spawn.h"

namespace semel {

void LinkWatch::arm(Deadlines::Entry& entry, Deadlines::Clock::time_point at) {
  deadlines_.arm(entry, at);
  if (sweeping_) return;
  sweeping_ = true;
  spawn(executor_, keep_sweeping(shared_from_this()));
}

Task<> LinkWatch::keep_sweeping(std::shared_ptr<LinkWatch> self) {
  struct Leave {
    LinkWatch& watch;
    ~Leave() { watch.sweeping_ = false; }
  };
  const Leave leave{*self};
  Timer timer(self->executor_);
  while (!self->deadlines_.is_idle()) {
    timer.expires_after(kInterval);
    co_await timer.async_wait(kNoThrow);
    self->deadlines_.sweep(Deadlines::Clock::now());
  }
}

}  // namespace semel
