#pragma once

#include <cstdio>
#include <cstdlib>

namespace semel {

/// Ends the process: the program itself is broken, and a lease that lapses tells the truth better
/// than a guess would.
[[noreturn]] inline void broken_invariant(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, what);
  std::abort();
}

}  // namespace semel

/// Holds in every build. For broken programs only, never for news from the environment.
#define SEMEL_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::semel::broken_invariant(#condition, __FILE__, __LINE__))
