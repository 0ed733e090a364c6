#pragma once

#include <array>
#include <atomic>
#include <boost/asio/recycling_allocator.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "core/claim.h"
#include "core/policy.h"
#include "core/problem.h"
#include "core/stored_response.h"
#include "io/task.h"

namespace semel::proxy {

/// What a leader leaves to its followers.
struct Landing {
  StoredResponsePtr response;      ///< The answer as a replay would show it; or
  std::optional<Problem> problem;  ///< the refusal that all of them get.
  bool marked = false;             ///< The answer is relayed, and every later call is refused.
  std::optional<HexText<32>> reference;  ///< Absent where no claim exists.
  Policy policy = Policy::None;          ///< By which the leader ended.

  /// False: a follower of this policy asks again. A flight that was freed leaves nothing; and what
  /// a weaker policy made of the call, a failure that may be repeated, is no answer to a stricter
  /// one.
  [[nodiscard]] bool holds_for(Policy follower) const {
    return (response != nullptr || problem) && follower <= policy;
  }
};

/// The exchanges of this process that are on the way on one key: one leader, bounded followers.
/// @thread Any worker. Nothing here waits while it holds a lock.
class Flights {
 public:
  class Flight;
  /// The leader's duty to land. If it ends without landing, its followers ask again.
  class Lead {
   public:
    Lead() = default;
    Lead(Lead&& other) noexcept;
    Lead& operator=(Lead&& other) noexcept;
    ~Lead();
    /// The leader holds a claim of this reference: what a duplicate that is refused may quote.
    void announce(const HexText<32>& reference);
    /// Gives everybody who follows the answer, and takes the flight off the board.
    void land(Landing landing);
    /// Takes the flight off the board; who follows asks again.
    void free();
    [[nodiscard]] bool is_flying() const { return flight_ != nullptr; }
    /// The strictest policy of all who have asked for the key while it flies, the leader's
    /// included.
    [[nodiscard]] Policy strictest_policy() const;

   private:
    friend class Flights;
    Flights* flights_ = nullptr;
    std::shared_ptr<Flight> flight_;
  };

  enum class Follow : std::uint8_t { Wait, Reject };
  enum class Refused : std::uint8_t { Duplicate, TooMany, CallerDiffers, PayloadDiffers };
  /// A seat in somebody else's flight.
  using Seat = std::shared_ptr<Flight>;

  /// What may be told of a flight that has not landed.
  struct Sight {
    std::optional<HexText<32>> reference;        ///< Of the leader's claim, once there is one.
    std::chrono::steady_clock::time_point ends;  ///< The leader has an answer, or none, by then.
  };
  struct Refusal {
    Refused why = Refused::Duplicate;
    Sight sight;
  };

  explicit Flights(std::size_t followers_max) : followers_max_(followers_max) {}
  /// Who follows already stays.
  void allow(std::size_t followers_max) {
    followers_max_.store(followers_max, std::memory_order_relaxed);
  }

  /// Leads, follows, or is refused; bindings are compared before anything else.
  /// @param policy  A keyed one. Of one key there are two only across a reload.
  [[nodiscard]] std::variant<Lead, Seat, Refusal> join(const IdempotencyKey& key,
                                                       const Bindings& bindings, Policy policy,
                                                       Follow follow,
                                                       std::chrono::steady_clock::time_point ends);

  /// Waits for the flight to end, at most until `until`. Gives the seat back.
  /// @return Absent: `until` passed. A Landing without response and problem: freed, ask again.
  [[nodiscard]] Task<std::optional<std::shared_ptr<const Landing>>> follow(
      Executor executor, Seat seat, std::chrono::steady_clock::time_point until);

  [[nodiscard]] Sight sight(const Seat& seat);

 private:
  /// A flight comes and goes with every keyed request: its memory is used again.
  template <class T>
  using Recycling = asio::recycling_allocator<T>;
  using Board =
      std::unordered_map<IdempotencyKey, std::shared_ptr<Flight>, KeyHash, std::equal_to<>,
                         Recycling<std::pair<const IdempotencyKey, std::shared_ptr<Flight>>>>;
  struct Shard {
    std::mutex mutex;
    Board flights;
  };
  static constexpr std::size_t kShards = 64;
  [[nodiscard]] Shard& shard_of(const IdempotencyKey& key) {
    return shards_[key.bytes[31] % kShards];
  }
  void end(const std::shared_ptr<Flight>& flight, Landing landing);

  std::atomic<std::size_t> followers_max_;
  std::array<Shard, kShards> shards_;
};

}  // namespace semel::proxy
