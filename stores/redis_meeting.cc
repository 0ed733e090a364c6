// Compares what this process remembers of its store with what the store says, on each connection
// before any call is let through on it. What follows from a difference is decided at the server, in
// stores/redis/meet.lua and claim.lua: for all replicas at once.
#include "stores/redis_meeting.h"

#include <algorithm>
#include <utility>

#include "stores/redis_grade.h"
#include "stores/redis_scripts.h"

namespace semel {
namespace {

/// Of what a server calls its run: enough to tell it from the others of one store.
constexpr std::size_t kRunDigits = 8;

}  // namespace

RedisMeeting::RedisMeeting(const RedisOptions& options, const StoreClock& clock)
    : boot_(clock.boot),
      logs_events_(options.events.has_value()),
      witness_(std::make_unique<SharedWitness>(options.state_dir)),
      writer_(witness_->writer()),
      group_(options.sentinel_master.value_or("")) {}

std::shared_ptr<SentinelEpoch> RedisMeeting::make_epoch() {
  // Whoever asks for the epoch has its lock before ours.
  const auto note = [weak = weak_from_this()](std::uint64_t epoch) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    const std::lock_guard lock(self->mutex_);
    if (self->witness_) self->witness_->note_epoch(self->group_, epoch);
  };
  return std::make_shared<SentinelEpoch>(witness_->epoch(group_), note);
}

void RedisMeeting::name_lanes(const RedisLinks& links) {
  names_.clear();
  clocks_.clear();
  for (std::size_t lane = 0; lane < links.lanes(); ++lane) {
    names_.emplace_back(links.tag(lane));
    clocks_.emplace_back(boot_);
  }
  met_.assign(names_.size(), witness_->store_id());
  ahead_.assign(names_.size(), Fence{});
}

RedisHooks RedisMeeting::hooks() {
  RedisHooks hooks;
  hooks.admit = [self = shared_from_this()](std::shared_ptr<RedisDoor> door) {
    return self->admit(std::move(door));
  };
  hooks.warn = [self = shared_from_this()](std::string sentence) {
    const std::lock_guard lock(self->mutex_);
    self->warning_ = std::move(sentence);
  };
  hooks.scripts = redis_scripts().all();
  if (epoch_ == nullptr) epoch_ = make_epoch();
  hooks.epoch = epoch_;
  return hooks;
}

Task<Result<void>> RedisMeeting::admit(std::shared_ptr<RedisDoor> door) {
  const auto self = shared_from_this();
  std::string objection = redis_objection(door->facts());
  if (!objection.empty()) co_return object(Fault::StoreUnreachable, std::move(objection));
  for (const std::size_t lane : door->lanes()) {
    const auto asked = boot_();
    auto keys = names(lane).own();
    auto words = question(lane, door->facts().replication_id.substr(0, kRunDigits));
    words.push_back(door->facts().run_id.substr(0, kRunDigits) + ":" +
                    std::to_string(door->facts().evicted));
    auto reply = co_await door->run(redis_scripts().meet, lane, std::move(keys), std::move(words));
    const auto told = hear(lane, std::move(reply), asked);
    if (!told) co_return told.error();
    if (auto taken = take(lane, *told); !taken) co_return taken;
  }
  const std::lock_guard lock(mutex_);
  objection_.clear();
  co_return Result<void>();
}

std::vector<std::string> RedisMeeting::beginning(std::size_t lane) const {
  return {in_microseconds(clocks_.at(lane).latest()), logs_events_ ? "1" : "0"};
}

std::vector<std::string> RedisMeeting::question(std::size_t lane, const std::string& run) const {
  auto words = beginning(lane);
  words.push_back(writer());
  const std::lock_guard lock(mutex_);
  words.push_back(met_[lane]);
  words.push_back(std::to_string(known(lane).value));
  words.push_back(std::to_string(met_.size()));
  words.push_back(run);
  return words;
}

Result<void> RedisMeeting::take(std::size_t lane, const RedisTold& told) {
  if (told.is("unmarked")) {
    return object(Fault::StoreSuspect, std::string(kNoStoreThere));
  }
  if (told.is("foreign")) {
    return object(Fault::StoreUnreachable,
                  "the store there has format " + told.text(0) + " and " + told.text(1) +
                      " lanes: this program writes format 1, in " + std::to_string(met_.size()) +
                      (met_.size() == 1 ? " lane" : " lanes, as for a cluster"));
  }
  if (!told.is("met")) return Fault::StoreTimeout;
  const std::lock_guard lock(mutex_);
  met_[lane] = told.text(0);
  ahead_[lane] = std::max(ahead_[lane], Fence{static_cast<std::uint64_t>(told.number(2))});
  // It is another one for the witness once every lane has been compared with what was known.
  is_between_ = std::ranges::any_of(met_, [&](const auto& store) { return store != met_[lane]; });
  if (is_between_) return {};
  SharedWitness::Lanes lanes;
  for (std::size_t at = 0; at < ahead_.size(); ++at) {
    if (const Fence fence = std::exchange(ahead_[at], Fence{}); fence != Fence{}) lanes[at] = fence;
  }
  // What was told in the one of before stays known: the doubt that this one has been told of may
  // be lost with it.
  if (witness_) witness_->meet(met_[lane], lanes);
  return {};
}

Result<RedisTold> RedisMeeting::hear(std::size_t lane, Result<RedisReply> reply,
                                     std::chrono::nanoseconds asked) {
  if (!reply) return reply.error();
  auto told = RedisTold::read(*std::move(reply));
  if (!told) return told;
  if (told->is_clock_settled()) clock(lane).forget();
  // One that has leapt was noticed by the script, too: RedisStore::ask() writes it down.
  static_cast<void>(clock(lane).observe(told->time(), asked));
  return told;
}

std::string RedisMeeting::met(std::size_t lane) const {
  const std::lock_guard lock(mutex_);
  return met_[lane];
}

std::string RedisMeeting::known_in_words(std::size_t lane) const {
  const std::lock_guard lock(mutex_);
  return std::to_string(known(lane).value);
}

Fence RedisMeeting::known(std::size_t lane) const {
  return std::max(witness_ ? witness_->known(lane) : Fence{}, ahead_[lane]);
}

void RedisMeeting::note(std::size_t lane, Fence fence) {
  const std::lock_guard lock(mutex_);
  if (is_between_) {
    ahead_[lane] = std::max(ahead_[lane], fence);
  } else if (witness_) {
    witness_->note(lane, fence);
  }
}

void RedisMeeting::end() {
  std::unique_ptr<SharedWitness> ending;
  const std::lock_guard lock(mutex_);
  ending.swap(witness_);
}

Fault RedisMeeting::object(Fault fault, std::string sentence) {
  const std::lock_guard lock(mutex_);
  objection_ = std::move(sentence);
  return fault;
}

std::string RedisMeeting::objection() const {
  const std::lock_guard lock(mutex_);
  return objection_;
}

std::string RedisMeeting::remark() const {
  const std::lock_guard lock(mutex_);
  std::string remark = witness_ ? witness_->remark() : std::string();
  for (const std::string& more : {objection_, warning_}) {
    if (more.empty()) continue;
    if (!remark.empty()) remark += "; ";
    remark += more;
  }
  return remark;
}

}  // namespace semel
