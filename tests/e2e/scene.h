#pragma once

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <ostream>
#include <string>

#include "tests/e2e/crash_site.h"
#include "tests/e2e/nth_call.h"

namespace semel::testing {

/// What one exchange does, under faults.
struct Scene {
  /// What was before the exchange.
  enum class Before : std::uint8_t {
    Nothing,
    ItsAnswer,        ///< It is a replay.
    ItsAnswerOnDisk,  ///< The same, of a process that was started since.
  };
  const char* name;
  const char* path;
  const char* run;  ///< What runs begin with; see `EffectTool::play`.
  Before before = Before::Nothing;
  /// Whether its client is being answered before the record is written.
  [[nodiscard]] bool flows_live() const {
    return std::string(run) == "long" || std::string(run) == "huge";
  }
  /// Whether the write-ahead log, full of its answer, is carried into the database behind it.
  [[nodiscard]] bool carries_over() const { return std::string(run) == "huge"; }
  [[nodiscard]] bool is_effectful() const { return path == std::string(CrashSite::kEffectful); }
};
inline void PrintTo(const Scene& scene, std::ostream* out) { *out << scene.name; }

/// What the process under test was told to meet, and whether it died of it.
struct Place {
  Syscall call;
  Blow blow;
  int nth;
  [[nodiscard]] bool kills() const {
    return blow.fate == Fate::Kill || blow.fate == Fate::KillBehind;
  }
  /// A full disk still completes a record, without its body (guarantee 5.6).
  [[nodiscard]] bool fills_the_disk() const { return blow.error == ENOSPC; }
  /// Whether the store may stay down until a restart: after an error of a write or a sync, or of a
  /// read in between, that was not ENOSPC (spec 9).
  [[nodiscard]] bool may_break_the_store() const {
    constexpr Syscall kOfTheFile[] = {Syscall::Pread, Syscall::Pwrite, Syscall::Fdatasync,
                                      Syscall::Fsync, Syscall::Ftruncate};
    return blow.fate == Fate::Fail && blow.error != ENOSPC &&
           std::ranges::find(kOfTheFile, call) != std::end(kOfTheFile);
  }
};

}  // namespace semel::testing
