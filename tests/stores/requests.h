#pragma once

// The clocks, folders, requests and answers that tests of stores are made of.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "stores/store.h"

namespace semel::testing {

using namespace std::chrono_literals;

/// Clocks that stand still until a test moves them, both at once.
class MovedClock {
 public:
  MovedClock() = default;
  /// @param file  Made here. A server of the store whose clock is moved by it tells the same time
  ///              as the boot clock, in another process (support/moved_wall.h).
  explicit MovedClock(const std::string& file) : state_(map(file)) {}

  [[nodiscard]] StoreClock clock() const {
    StoreClock clock;
    clock.boot = [state = state_] {
      return std::chrono::nanoseconds(state->standing.fetch_add(state->step) + state->step -
                                      kBootedAt);
    };
    clock.wall = [state = state_] {
      return std::chrono::system_clock::time_point(std::chrono::nanoseconds(state->wall));
    };
    return clock;
  }
  void advance(std::chrono::nanoseconds by) {
    state_->standing += by.count();
    state_->wall += by.count();
  }
  void jump_wall(std::chrono::nanoseconds by) { state_->wall += by.count(); }
  /// From now on time passes between any two looks at the boot clock of the test's own process.
  void pass_at_each_reading(std::chrono::nanoseconds step) { state_->step = step.count(); }

 private:
  static constexpr std::int64_t kStart = 1'760'000'000'000'000'000;
  static constexpr std::int64_t kBootedAt = kStart - 1'000'000'000'000;

  /// As support/preload/moved_wall.cc has it, and what is ours alone behind that.
  struct State {
    std::atomic<std::int64_t> ahead{0};
    std::atomic<std::int64_t> standing{kStart};  ///< Nanoseconds since 1970, by a server's clock.
    std::atomic<std::int64_t> wall{kStart};
    std::atomic<std::int64_t> step{0};
  };

  static std::shared_ptr<State> map(const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    const bool sized = fd >= 0 && ::ftruncate(fd, sizeof(State)) == 0;
    void* mapped = sized ? ::mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                         : MAP_FAILED;
    if (fd >= 0) ::close(fd);
    if (mapped == MAP_FAILED) throw std::runtime_error("cannot map " + file);
    return {new (mapped) State, [](State* state) { ::munmap(state, sizeof(State)); }};
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "semel-stores-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string path() const { return path_; }

 private:
  std::string path_;
};

template <class Id>
Id id_of(std::uint64_t number) {
  Id id;
  for (std::size_t i = 0; i < 8; ++i) {
    id.bytes[i] = static_cast<std::uint8_t>((number * 0x9E3779B97F4A7C15u) >> (8 * i));
    id.bytes[8 + i] = static_cast<std::uint8_t>(number >> (8 * i));
  }
  return id;
}

/// An EFFECTFUL request of tenant `acme` for key number `key`, by attempt number `attempt`.
inline ClaimRequest request_of(std::uint64_t key, std::uint64_t attempt) {
  ClaimRequest request;
  request.key = id_of<IdempotencyKey>(key);
  request.token = id_of<ClaimToken>(attempt);
  request.reference = id_of<Reference>(attempt + 1'000'000);
  request.bindings.caller.bytes[0] = 1;
  request.bindings.guards.bytes[0] = 2;
  request.bindings.fingerprint.bytes[0] = 3;
  request.tenant = "acme";
  request.route = "book";
  request.lease = 30s;
  request.retention = 24h;
  return request;
}

/// The route of request_of() as it is configured now.
inline RouteTerms route_today(std::chrono::seconds retention,
                              std::optional<std::chrono::seconds> indeterminate_retention) {
  RouteTerms terms;
  terms.name = "book";
  terms.policy = Policy::Effectful;
  terms.methods = {"POST"};
  terms.pattern = "/tools/book";
  terms.retention = retention;
  terms.indeterminate_retention = indeterminate_retention;
  return terms;
}

inline StoredResponsePtr response_of(std::uint16_t status, std::string body) {
  auto response = std::make_shared<StoredResponse>();
  response->status = status;
  response->fields = {{"Content-Type", "text/plain"}, {"X-Twice", "1"}, {"X-Twice", "2"}};
  response->body = std::move(body);
  return response;
}

inline StoredResponsePtr response_without_body(std::uint16_t status) {
  auto response = std::make_shared<StoredResponse>();
  response->status = status;
  response->kept = BodyKept::NotKept;
  return response;
}

}  // namespace semel::testing
