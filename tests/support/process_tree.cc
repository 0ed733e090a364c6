#include "tests/support/process_tree.h"

#include <signal.h>

#include <charconv>
#include <filesystem>
#include <sstream>
#include <string>

#include "tests/support/temp_folder.h"

namespace semel::testing {
namespace {

struct Standing {
  char state = 'X';  ///< As proc(5) has it; X where there is no such process.
  pid_t parent = 0;
};

Standing standing_of(pid_t pid) {
  // `pid (name) state parent ...`; the name may hold anything but ends with the last parenthesis.
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  Standing standing;
  if (name_end == std::string::npos) return standing;
  std::istringstream rest(stat.substr(name_end + 1));
  rest >> standing.state >> standing.parent;
  return standing;
}

}  // namespace

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, bad] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (bad != std::errc{} || end != name.data() + name.size()) continue;
    if (standing_of(pid).parent == parent) children.push_back(pid);
  }
  return children;
}

std::vector<pid_t> stop_tree(pid_t root) {
  ::kill(root, SIGSTOP);
  // A process that is in a system call stops at its end, and may have started a child until then.
  static_cast<void>(eventually([&] {
    const char state = standing_of(root).state;
    return state == 'T' || state == 'Z' || state == 'X';
  }));
  std::vector<pid_t> children = children_of(root);
  for (const pid_t child : children) ::kill(child, SIGSTOP);
  return children;
}

void resume_tree(pid_t root) {
  for (const pid_t child : children_of(root)) ::kill(child, SIGCONT);
  ::kill(root, SIGCONT);
}

std::vector<pid_t> kill_tree(pid_t root) {
  std::vector<pid_t> children = stop_tree(root);
  for (const pid_t child : children) ::kill(child, SIGKILL);
  ::kill(root, SIGKILL);
  return children;
}

bool is_gone(pid_t pid) {
  const char state = standing_of(pid).state;
  return state == 'Z' || state == 'X';
}

}  // namespace semel::testing
