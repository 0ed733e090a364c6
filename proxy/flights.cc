// Exchanges of one process on one key. A follower waits on a timer of its own; the leader's worker
// posts to the follower's executor, so a timer is only ever touched on its own worker.
#include "proxy/flights.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace semel::proxy {
namespace {

using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Waiter {
  Waiter(Executor home, std::chrono::steady_clock::time_point until)
      : executor(home), timer(home, until) {}
  Executor executor;
  Timer timer;
  std::shared_ptr<const Landing> landed;
};

}  // namespace

class Flights::Flight {
 public:
  Flight(const IdempotencyKey& flown, const Bindings& bound, Policy leading,
         std::chrono::steady_clock::time_point until)
      : key(flown), bindings(bound), ends(until), strictest(leading) {}
  const IdempotencyKey key;
  const Bindings bindings;
  const std::chrono::steady_clock::time_point ends;
  // Under the shard's mutex:
  Policy strictest;
  std::shared_ptr<const Landing> landed;
  std::optional<HexText<32>> reference;
  std::size_t seats = 0;
  std::vector<std::shared_ptr<Waiter>> waiters;
};

Flights::Lead::Lead(Lead&& other) noexcept
    : flights_(other.flights_), flight_(std::move(other.flight_)) {}

Flights::Lead& Flights::Lead::operator=(Lead&& other) noexcept {
  if (this != &other) {
    free();
    flights_ = other.flights_;
    flight_ = std::move(other.flight_);
  }
  return *this;
}

Flights::Lead::~Lead() { free(); }

void Flights::Lead::announce(const HexText<32>& reference) {
  if (flight_ == nullptr) return;
  const std::lock_guard lock(flights_->shard_of(flight_->key).mutex);
  flight_->reference = reference;
}

void Flights::Lead::land(Landing landing) {
  if (flight_ != nullptr) flights_->end(std::exchange(flight_, nullptr), std::move(landing));
}

Policy Flights::Lead::strictest_policy() const {
  const std::lock_guard lock(flights_->shard_of(flight_->key).mutex);
  return flight_->strictest;
}

void Flights::Lead::free() { land(Landing{}); }

std::variant<Flights::Lead, Flights::Seat, Flights::Refusal> Flights::join(
    const IdempotencyKey& key, const Bindings& bindings, Policy policy, Follow follow,
    std::chrono::steady_clock::time_point ends) {
  Shard& shard = shard_of(key);
  const std::lock_guard lock(shard.mutex);
  auto& flight = shard.flights[key];
  if (flight == nullptr) {
    flight = std::allocate_shared<Flight>(Recycling<Flight>(), key, bindings, policy, ends);
    Lead lead;
    lead.flights_ = this;
    lead.flight_ = flight;
    return lead;
  }
  const Sight sight{flight->reference, flight->ends};
  if (flight->bindings.caller != bindings.caller) return Refusal{Refused::CallerDiffers, {}};
  if (flight->bindings != bindings) return Refusal{Refused::PayloadDiffers, sight};
  flight->strictest = std::max(flight->strictest, policy);
  if (follow == Follow::Reject) return Refusal{Refused::Duplicate, sight};
  if (flight->seats >= followers_max_) return Refusal{Refused::TooMany, sight};
  ++flight->seats;
  return flight;
}

Task<std::optional<std::shared_ptr<const Landing>>> Flights::follow(
    Executor executor, Seat seat, std::chrono::steady_clock::time_point until) {
  auto waiter = std::make_shared<Waiter>(executor, until);
  {
    const std::lock_guard lock(shard_of(seat->key).mutex);
    if (seat->landed != nullptr) co_return seat->landed;
    seat->waiters.push_back(waiter);
  }
  // Ends early when the flight lands; which of the two it was, `landed` tells.
  co_await waiter->timer.async_wait(kNoThrow);
  if (waiter->landed != nullptr) co_return waiter->landed;

  const std::lock_guard lock(shard_of(seat->key).mutex);
  if (seat->landed != nullptr) co_return seat->landed;
  --seat->seats;
  std::erase(seat->waiters, waiter);
  co_return std::nullopt;
}

Flights::Sight Flights::sight(const Seat& seat) {
  const std::lock_guard lock(shard_of(seat->key).mutex);
  return {seat->reference, seat->ends};
}

void Flights::end(const std::shared_ptr<Flight>& flight, Landing landing) {
  std::shared_ptr<const Landing> landed;
  std::vector<std::shared_ptr<Waiter>> waiters;
  {
    Shard& shard = shard_of(flight->key);
    const std::lock_guard lock(shard.mutex);
    shard.flights.erase(flight->key);
    if (flight->seats == 0) return;  // Nobody followed, and nobody can any more.
    landed = std::make_shared<const Landing>(std::move(landing));
    flight->landed = landed;
    waiters.swap(flight->waiters);
  }
  for (auto& waiter : waiters) {
    const Executor executor = waiter->executor;
    asio::post(executor, [waiter = std::move(waiter), landed] {
      waiter->landed = landed;
      waiter->timer.cancel();
    });
  }
}

}  // namespace semel::proxy
