#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"

namespace semel::testing {

/// A wall clock that the test moves: of every program that is started with its environment, Semel
/// or the server of a store, and of their children (support/preload/moved_wall.cc). All of them see
/// a move at their next look at the clock.
class MovedWall {
 public:
  /// @throws std::runtime_error if the library has not been built.
  MovedWall();
  /// The clock stands where somebody else moves it: a MovedClock made with that file, which has to
  /// be there already.
  explicit MovedWall(const std::string& clock_file);
  ~MovedWall();
  MovedWall(const MovedWall&) = delete;
  MovedWall& operator=(const MovedWall&) = delete;

  /// `NAME=value`, for a program to start with.
  [[nodiscard]] std::vector<std::string> environment() const;
  /// From now on it is so far ahead of this machine's; behind if negative.
  void move_to(std::chrono::nanoseconds ahead) { *ahead_ = ahead.count(); }
  void move_by(std::chrono::nanoseconds more) { *ahead_ += more.count(); }
  [[nodiscard]] std::chrono::nanoseconds ahead() const {
    return std::chrono::nanoseconds{ahead_->load()};
  }

 private:
  void put_library();
  void map();

  /// Open to every user: a server may be another one than the test.
  TempFolder folder_;
  std::atomic<std::int64_t>* ahead_ = nullptr;  ///< In the mapped file.
};

}  // namespace semel::testing
