#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/task.h"

namespace semel::proxy {

/// How an attempt to take a changed configuration ended.
struct ReloadReport {
  bool done = false;
  std::string text;  ///< What was taken, or why it was not: sentences for an operator.
};
/// @param acknowledged  Routes whose keys the operator lets go.
using Reload = std::function<Task<ReloadReport>(std::vector<std::string> acknowledged)>;

}  // namespace semel::proxy
