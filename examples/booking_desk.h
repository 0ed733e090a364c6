#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "examples/http_connection.h"

namespace semel::examples {

/// What the tool does once the work is done.
enum class Ending {
  Answer,  ///< Answers as it should.
  Status,  ///< Answers `Behaviour::status`; a 4xx is decided before the work, so without effect.
  HangAfterCommit,  ///< The effect is there, and no answer ever comes.
  CloseAfterCommit  ///< The effect is there, and the connection closes without an answer.
};

/// How a call is to go, for all calls (POST /control) or for one (header X-Example-Behaviour).
struct Behaviour {
  Ending ending = Ending::Answer;
  int status = 500;
  std::chrono::milliseconds delay{0};  ///< Between the effect and its answer.
};

/// Reads `delay=300`, `hang`, `close`, `status=500`, or several with commas, over `base`.
/// @return nullopt when a word is not known.
[[nodiscard]] std::optional<Behaviour> parse_behaviour(std::string_view words, Behaviour base);

/// What is to be done with the connection of one request.
struct Outcome {
  Response response;
  Ending ending = Ending::Answer;
  std::chrono::milliseconds delay{0};
};

/// The airline behind the example: three tools, counters of what they did, and a way to misbehave.
///
/// @thread Any; one lock, never held while a delay passes.
class BookingDesk {
 public:
  /// Does the work of one request at once; the caller then waits out the delay and answers, or not.
  [[nodiscard]] Outcome answer(const Request& request);

 private:
  struct Tally {
    std::size_t calls = 0;
    std::size_t effects = 0;
  };
  enum Tool : std::size_t { kBook, kSeat, kFare, kToolCount };

  Outcome call_tool(Tool tool, const Request& request);
  Response book(const std::string& flight);
  Response set_seat(const std::string& booking, const std::string& seat);
  Response control(std::string_view body);
  [[nodiscard]] Response effects() const;

  std::mutex mutex_;
  std::array<Tally, kToolCount> tallies_;
  std::map<std::string, std::string> seats_;  ///< By booking, both as JSON text.
  Behaviour behaviour_;
};

}  // namespace semel::examples
