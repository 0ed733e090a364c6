#include "tests/support/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tests/support/temp_folder.h"

namespace semel::testing {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

/// Ours, but for the names that `added` sets anew.
std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const std::string& own : added) replaced = replaced || own.starts_with(name);
    if (!replaced) all.push_back(text);
  }
  return all;
}

}  // namespace

Process::Process(const Command& command) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kAppend = O_WRONLY | O_CREAT | O_APPEND;
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, command.stdout_file.c_str(), kAppend, 0644);
  posix_spawn_file_actions_addopen(&files, 2, command.stderr_file.c_str(), kAppend, 0644);
  // Whatever the test program was started with: a lock that its caller holds ends with the caller.
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (command.leads_group) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  leads_group_ = command.leads_group;
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_with(command.environment);
  const int error = posix_spawn(&pid_, arguments.front().c_str(), &files, &attributes,
                                pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    pid_ = -1;
    throw std::system_error(error, std::generic_category(), arguments.front());
  }
}

Process::~Process() {
  kill(SIGCONT);
  kill(SIGKILL);
  wait(Deadline(milliseconds{10'000}));
}

void Process::kill(int signal) {
  if (pid_ > 0 && !exit_) ::kill(leads_group_ ? -pid_ : pid_, signal);
}

std::optional<Exit> Process::wait(Deadline deadline) {
  // Polled: pidfd_open would do without, but is not in every libc header of the compilers we use.
  while (!exit_ && pid_ > 0) {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      exit_ = WIFEXITED(status) ? Exit{WEXITSTATUS(status), 0} : Exit{-1, WTERMSIG(status)};
    } else if (deadline.passed()) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(milliseconds{1});
    }
  }
  return exit_;
}

bool Process::is_running() { return !wait(Deadline(milliseconds{0})); }

Finished run(const std::vector<std::string>& arguments, milliseconds patience) {
  const TempFolder folder;
  const Process::Command command{arguments, {}, folder.file("out"), folder.file("err")};
  Process process(command);
  const std::optional<Exit> exit = process.wait(Deadline(patience));
  if (!exit) process.kill(SIGKILL);
  return {exit, read_file(command.stdout_file), read_file(command.stderr_file)};
}

}  // namespace semel::testing
