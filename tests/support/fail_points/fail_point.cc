// What happens at the fail points of `semel_failpoints`. The file named by SEMEL_FAIL_POINTS holds
// `point action`: `after_claim kill` (SIGKILL), `after_claim stop` (SIGSTOP, of the whole process)
// `after_claim throw` (as where there is no memory) or `after_claim hold` (this thread stands still
// until the file says otherwise). Absent or empty: nothing happens. It is read at every point, so a
// test may change its mind while the program runs.
//
// SEMEL_POLL_MS says how long a follower waits for news from other processes before it looks for
// itself; absent: as long as the program does.
#include "proxy/fail_point.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <string_view>
#include <thread>

namespace semel::proxy {
namespace {

std::string_view name_of(FailPoint point) {
  switch (point) {
    case FailPoint::BeforeClaim:
      return "before_claim";
    case FailPoint::AfterClaim:
      return "after_claim";
    case FailPoint::BeforeDispatch:
      return "before_dispatch";
    case FailPoint::AfterDispatch:
      return "after_dispatch";
    case FailPoint::AfterAnswer:
      return "after_answer";
    case FailPoint::LateAnswer:
      return "late_answer";
    case FailPoint::BeforeRecord:
      return "before_record";
    case FailPoint::AfterRecord:
      return "after_record";
    case FailPoint::BeforeReply:
      return "before_reply";
    case FailPoint::MidReply:
      return "mid_reply";
  }
  return {};
}

}  // namespace

void fail_point(FailPoint point) {
  const char* file = std::getenv("SEMEL_FAIL_POINTS");
  if (file == nullptr) return;
  for (;;) {
    std::string planned;
    std::string action;
    std::ifstream(file) >> planned >> action;
    if (planned != name_of(point)) return;
    if (action == "kill") std::raise(SIGKILL);
    if (action == "stop") std::raise(SIGSTOP);
    if (action == "throw") throw std::bad_alloc();
    if (action != "hold") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::chrono::milliseconds until_next_look(std::chrono::milliseconds usual) {
  const char* chosen = std::getenv("SEMEL_POLL_MS");
  return chosen != nullptr ? std::chrono::milliseconds(std::atol(chosen)) : usual;
}

}  // namespace semel::proxy
