#pragma once

#include <sys/types.h>

#include <vector>

#include "tests/support/deadline.h"

namespace semel::testing {

/// The processes whose parent is `parent`, as of now.
[[nodiscard]] std::vector<pid_t> children_of(pid_t parent);

/// Stops a process and then its children: it starts none in between.
/// @return The children.
std::vector<pid_t> stop_tree(pid_t root);
/// Lets them go on.
void resume_tree(pid_t root);
/// Kills a process and its children at once: none sees another's end and does something about it.
/// Reaps nobody. @return The children, which may not be gone yet.
std::vector<pid_t> kill_tree(pid_t root);

/// True once there is no such process, or nothing left of it but its status.
[[nodiscard]] bool is_gone(pid_t pid);

}  // namespace semel::testing
