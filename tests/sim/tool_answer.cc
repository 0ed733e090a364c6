// How the simulated tool answers: framings, lengths, pauses and ends.
#include <utility>

#include "tests/sim/tool.h"
#include "tests/sim/tool_caller.h"

namespace semel::sim {
namespace {

using std::chrono::milliseconds;

/// Half of it is more than what is held back for a record in one piece (64 KiB).
constexpr std::size_t kLong = 140'000;

std::string chunk(std::string_view bytes) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return std::string(size).append(bytes).append("\r\n");
}

}  // namespace

void Tool::describe(Mood mood, Answer& how, const Caller& caller) {
  switch (mood) {
    case Mood::ServesLong:
      how.padding = kLong + dice_.below(60'000);
      how.pause = dice_.between(milliseconds(0), milliseconds(100));
      break;
    case Mood::ServesEndless:
      how.framing = Answer::Framing::Chunked;
      how.is_stream = true;
      how.padding = 200;
      how.pause = dice_.between(milliseconds(0), milliseconds(200));
      break;
    case Mood::ServesUnframed:
      how.framing = Answer::Framing::UntilClose;
      break;
    case Mood::ServesAndFails:
    case Mood::FailsSlowly:
    case Mood::Fails:
      how.status = dice_.pick<std::uint16_t>({500, 502, 503, 408});
      break;
    case Mood::ServesAndCuts:
      how.cut = true;
      // Whoever says no length tells a break from an end by a reset alone.
      if (dice_.chance(300)) how.framing = Answer::Framing::UntilClose;
      break;
    case Mood::ServesLongAndCuts:
      how.padding = kLong + dice_.below(60'000);
      how.cut = true;
      break;
    case Mood::ServesLongSlowly:
      how.padding = kLong + dice_.below(60'000);
      how.pause = too_long(caller);
      break;
    case Mood::RefusesLong:
      how.padding = kLong;
      how.status = 422;
      break;
    case Mood::Refuses:
    case Mood::RefusesSlowly:
      how.status = dice_.pick<std::uint16_t>({422, 429, 400});
      break;
    case Mood::LongFailure:
      how.padding = kLong;
      how.status = 503;
      break;
    case Mood::Serves:
      how.status = dice_.pick<std::uint16_t>({200, 200, 200, 201, 409});
      if (dice_.chance(200)) how.padding = dice_.below(3'000);
      if (dice_.chance(200)) how.framing = Answer::Framing::Chunked;
      break;
    case Mood::ServesAndMumbles:
      how.status = 0;
      break;
    case Mood::ServesSlowly:
    case Mood::ServesAndHangs:
    case Mood::ServesAndGoes:
    case Mood::Goes:
    case Mood::Hangs:
      break;
  }
}

void Tool::answer(const std::shared_ptr<Caller>& caller, const Answer& how) {
  world_.timeline.after(how.delay, [this, caller, how] { begin_answer(caller, how); });
}

void Tool::begin_answer(const std::shared_ptr<Caller>& caller, const Answer& how) {
  if (caller->end->closed) return;
  std::string body = "{\"served\":" + std::to_string(++served_) +
                     ",\"call\":" + std::to_string(caller->call) + ",\"padding\":\"";
  body.append(how.padding, 'x').append("\"}");
  Happening noted = happening(Kind::ToolAnswered, *caller);
  noted.status = how.status;
  noted.digest = digest_of(body);
  noted.cut = how.cut;
  noted.flows = how.is_stream || how.padding >= kLong;

  const std::size_t half = body.size() / 2;
  std::string rest = body.substr(half);
  if (how.status == 0) {
    caller->outbox += "mumble\r\n\r\n";
  } else {
    caller->outbox += "HTTP/1.1 " + std::to_string(how.status) + " Said\r\nContent-Type: " +
                      (how.is_stream ? "text/event-stream" : "application/json") + "\r\n";
    if (how.framing == Answer::Framing::Length) {
      caller->outbox += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    }
    if (how.framing == Answer::Framing::Chunked) caller->outbox += "Transfer-Encoding: chunked\r\n";
    caller->outbox += "\r\n";
    const bool chunked = how.framing == Answer::Framing::Chunked;
    const std::string first = body.substr(0, half);
    caller->outbox += chunked ? chunk(first) : first;
    if (chunked) rest = chunk(rest) + "0\r\n\r\n";
  }
  flush(caller);
  const auto end = [this, caller, how, noted, rest = std::move(rest)] {
    if (caller->end->closed) return;
    if (!how.cut && how.status != 0) caller->outbox += rest;
    end_answer(caller, how, noted);
  };
  if (how.pause > Time(0)) {
    world_.timeline.after(how.pause, end);
  } else {
    end();
  }
}

void Tool::end_answer(const std::shared_ptr<Caller>& caller, const Answer& how,
                      const Happening& noted) {
  Happening ended = noted;
  ended.at = world_.timeline.now().count();
  ended.cut = how.cut || how.status == 0;
  world_.history.add(ended);
  caller->goes_after = ended.cut || how.framing == Answer::Framing::UntilClose;
  caller->resets = ended.cut && how.framing == Answer::Framing::UntilClose;
  if (!ended.cut) {
    ended.kind = Kind::AnswerArrived;
    underway_[caller->end->line] = {caller->end->sent + caller->outbox.size(), caller->goes_after,
                                    ended};
  }
  flush(caller);
  if (!caller->goes_after) next_request(caller);
}

void Tool::flush(const std::shared_ptr<Caller>& caller) {
  if (caller->end->closed) return;
  const std::size_t taken = world_.kernel.network().send(caller->end, caller->outbox);
  caller->outbox.erase(0, taken);
  if (!caller->goes_after || !caller->outbox.empty()) return;
  if (caller->resets) world_.kernel.network().reset(caller->end);
  leave(caller);
}

/// The connection may bring another request, or is closed when it has been idle for a while.
void Tool::next_request(const std::shared_ptr<Caller>& caller) {
  caller->request = MessageReader();
  caller->is_decided = false;
  caller->call = Happening::kNone;
  const std::uint64_t heard = caller->end->arrived;
  if (dice_.chance(300)) {
    const Time idle = dice_.between(milliseconds(0), milliseconds(1'500));
    world_.timeline.after(idle, [this, caller, heard] {
      if (!caller->end->closed && caller->end->arrived == heard) leave(caller);
    });
  }
  if (!caller->end->inbox.empty() || caller->end->peer_ended) hear(caller);
}

void Tool::arrived(const EndPtr& proxy_end) {
  const auto waiting = underway_.find(proxy_end->line);
  if (waiting == underway_.end() || proxy_end->arrived < waiting->second.whole_at) return;
  if (waiting->second.ends_at_close && !proxy_end->peer_ended) return;
  waiting->second.noted.at = world_.timeline.now().count();
  world_.history.add(waiting->second.noted);
  underway_.erase(waiting);
}

}  // namespace semel::sim
