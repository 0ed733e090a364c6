#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/support/deadline.h"

namespace semel::testing {

/// How a child ended.
struct Exit {
  int code = -1;   ///< Of exit(2); -1 where a signal ended it.
  int signal = 0;  ///< 0 where it exited by itself.
};

/// One child process. Its destructor kills it, by its own pid, and waits for it.
class Process {
 public:
  struct Command {
    std::vector<std::string> arguments;    ///< The program's path first.
    std::vector<std::string> environment;  ///< `NAME=value`, added to our own.
    std::string stdout_file;
    std::string stderr_file;
    bool leads_group = false;  ///< Its children, and theirs, get every signal that it gets.
  };

  /// @throws std::system_error if the program cannot be started.
  explicit Process(const Command& command);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// No effect on a child that has ended.
  void kill(int signal);
  /// @return Absent if it still runs at the deadline.
  std::optional<Exit> wait(Deadline deadline);
  [[nodiscard]] bool is_running();

 private:
  pid_t pid_ = -1;
  bool leads_group_ = false;
  std::optional<Exit> exit_;
};

/// What a command that runs to its end has left.
struct Finished {
  std::optional<Exit> exit;  ///< Absent: it was killed at the deadline.
  std::string out;
  std::string err;
};
[[nodiscard]] Finished run(const std::vector<std::string>& arguments,
                           milliseconds patience = milliseconds{20'000});

}  // namespace semel::testing
