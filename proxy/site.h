#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "config/config.h"
#include "proxy/disowned_claims.h"
#include "proxy/flights.h"
#include "proxy/key_quota.h"
#include "proxy/metrics.h"
#include "stores/store.h"

namespace semel::proxy {

/// Bytes that requests hold in memory beyond one block a connection, over all workers.
class BufferBudget {
 public:
  explicit BufferBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  /// Of what is held already, more may be than is allowed from now on.
  void allow(std::size_t bytes_max) { bytes_max_.store(bytes_max, std::memory_order_relaxed); }
  /// Held for as long as the bytes are.
  class Share {
   public:
    Share() = default;
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (budget_ != nullptr) budget_->used_.fetch_sub(bytes_, std::memory_order_relaxed);
    }
    [[nodiscard]] bool is_granted() const { return budget_ != nullptr; }

   private:
    friend class BufferBudget;
    BufferBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };
  /// Not granted where the budget is used up: answer 503 `overloaded`.
  [[nodiscard]] Share take(std::size_t bytes) {
    Share share;
    const std::size_t bytes_max = bytes_max_.load(std::memory_order_relaxed);
    if (bytes > bytes_max) return share;
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes > bytes_max) {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return share;
    }
    share.budget_ = this;
    share.bytes_ = bytes;
    return share;
  }

 private:
  std::atomic<std::size_t> bytes_max_;
  std::atomic<std::size_t> used_{0};
};

/// Open client connections, in all and by address.
class ConnectionBudget {
 public:
  ConnectionBudget(std::size_t all_max, std::size_t address_max)
      : all_max_(all_max), address_max_(address_max) {}
  /// Connections that are open already stay.
  void allow(std::size_t all_max, std::size_t address_max) {
    const std::lock_guard lock(mutex_);
    all_max_ = all_max;
    address_max_ = address_max;
  }
  [[nodiscard]] bool take(const std::string& address) {
    const std::lock_guard lock(mutex_);
    if (all_ >= all_max_) return false;
    auto& count = by_address_[address];
    if (count >= address_max_) return false;
    ++count;
    ++all_;
    return true;
  }
  void give_back(const std::string& address) {
    const std::lock_guard lock(mutex_);
    --all_;
    const auto at = by_address_.find(address);
    if (--at->second == 0) by_address_.erase(at);
  }

 private:
  std::size_t all_max_;
  std::size_t address_max_;
  std::mutex mutex_;
  std::size_t all_ = 0;
  std::unordered_map<std::string, std::size_t> by_address_;
};

/// What all workers share, and what a reload does not replace. Nothing else of one worker is
/// touched by another.
/// @thread Any; every member is constant or safe by itself.
struct Site {
  Site(const config::Config& config, std::unique_ptr<Store> opened, std::size_t workers,
       int access_log);

  /// Takes up limits that are counted over all workers.
  void allow(const config::Limits& limits);

  const std::unique_ptr<Store> store;
  Flights flights;
  DisownedClaims disowned;
  KeyQuota quota;
  Metrics metrics;
  BufferBudget buffered;
  ConnectionBudget connections;
  std::atomic<bool> draining{false};
  const int access_log_fd;
};

}  // namespace semel::proxy
