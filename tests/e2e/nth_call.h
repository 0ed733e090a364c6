#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "tests/support/preload/nth_call_plan.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {

/// What one call is to meet.
struct Blow {
  const char* name;
  Fate fate;
  int error = 0;  ///< Of `Fate::Fail`.
};

inline constexpr Blow kKills[] = {{"SIGKILL", Fate::Kill}, {"SIGKILL behind it", Fate::KillBehind}};
inline constexpr Blow kStop = {"SIGSTOP", Fate::Stop};

/// Which errors a call may tell, by its page of the manual, and the short counts.
inline std::vector<Blow> blows_of(Syscall call) {
  constexpr Blow kIo = {"EIO", Fate::Fail, EIO};
  constexpr Blow kFull = {"ENOSPC", Fate::Fail, ENOSPC};
  constexpr Blow kInterrupted = {"EINTR", Fate::Fail, EINTR};
  constexpr Blow kAgain = {"EAGAIN", Fate::Fail, EAGAIN};
  constexpr Blow kReset = {"ECONNRESET", Fate::Fail, ECONNRESET};
  constexpr Blow kPipe = {"EPIPE", Fate::Fail, EPIPE};
  constexpr Blow kNoMore = {"EMFILE", Fate::Fail, EMFILE};
  constexpr Blow kNoMemory = {"ENOMEM", Fate::Fail, ENOMEM};
  constexpr Blow kShort = {"one byte", Fate::Short};
  switch (call) {
    case Syscall::None:
      return {};
    case Syscall::Open:
      return {kIo, kFull, kInterrupted, kNoMore};
    case Syscall::Pread:
      return {kIo, kInterrupted, kShort};
    case Syscall::Pwrite:
      return {kIo, kFull, kInterrupted, kShort};
    case Syscall::Fdatasync:
    case Syscall::Fsync:
    case Syscall::Ftruncate:
    case Syscall::Fallocate:
    case Syscall::CloseFile:
      return {kIo, kFull, kInterrupted};
    case Syscall::Accept:
      return {kIo, kInterrupted, kAgain, kNoMore, {"ECONNABORTED", Fate::Fail, ECONNABORTED}};
    case Syscall::Socket:
      return {kIo, kNoMore, kNoMemory};
    case Syscall::Connect:
      return {kIo, kInterrupted, kAgain, {"ECONNREFUSED", Fate::Fail, ECONNREFUSED}};
    case Syscall::Recv:
      return {kIo, kInterrupted, kAgain, kReset, kShort};
    case Syscall::Send:
      return {kIo, kInterrupted, kAgain, kReset, kPipe, kShort, {"cut", Fate::Cut}};
    case Syscall::Setsockopt:
    case Syscall::Getsockopt:
    case Syscall::Ioctl:
    case Syscall::Shutdown:
      return {kIo, kInterrupted};
    case Syscall::CloseSocket:
      return {kIo, kInterrupted};
    case Syscall::EpollCtl:
      return {kIo, kFull, kNoMemory, kInterrupted};
    case Syscall::EpollWait:
      return {kIo, kInterrupted};
  }
  return {};
}

/// Each of `blows_of`, and death.
inline std::vector<Blow> all_blows_of(Syscall call) {
  std::vector<Blow> all = blows_of(call);
  all.insert(all.end(), std::begin(kKills), std::end(kKills));
  return all;
}

/// The last N that is tried: SEMEL_NTH_CALLS, which a long run raises.
inline int last_nth_call() {
  const char* text = std::getenv("SEMEL_NTH_CALLS");
  return text == nullptr ? 40 : std::atoi(text);
}

inline const char* name(Syscall call) { return kSyscallNames[static_cast<std::size_t>(call)]; }

/// The library that strikes one call of the program under test (support/preload), and its plan.
class NthCall {
 public:
  NthCall() {
    const std::string file = folder_.file("plan");
    write_file(file, std::string(sizeof(NthCallPlan), '\0'));
    const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    void* page =
        fd < 0 ? MAP_FAILED
               : ::mmap(nullptr, sizeof(NthCallPlan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) throw std::system_error(errno, std::generic_category(), file);
    ::close(fd);
    plan_ = new (page) NthCallPlan();
  }
  ~NthCall() { ::munmap(plan_, sizeof(NthCallPlan)); }
  NthCall(const NthCall&) = delete;
  NthCall& operator=(const NthCall&) = delete;

  [[nodiscard]] std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" SEMEL_BINARY_DIR "/libsemel_nth_call.so",
            "SEMEL_NTH_CALL=" + folder_.file("plan")};
  }

  /// The `nth` such call from now on meets that.
  void arm(Syscall call, const Blow& blow, int nth) {
    plan_->strike = Strike{call, blow.fate, static_cast<std::uint8_t>(blow.error), 0,
                           static_cast<std::uint32_t>(nth)};
  }
  /// @return Whether it has struck. From now on it does not.
  [[nodiscard]] bool disarm() {
    const Strike was = plan_->strike.exchange(Strike());
    return was.call != Syscall::None && was.left == 0;
  }
  [[nodiscard]] bool has_struck() const {
    const Strike now = plan_->strike;
    return now.call != Syscall::None && now.left == 0;
  }

  /// How many calls of each kind the program makes while `run` runs, by `Syscall`.
  template <class Run>
  [[nodiscard]] std::array<std::uint32_t, kSyscallNames.size()> count(Run run) {
    for (auto& seen : plan_->seen) seen = 0;
    plan_->is_counting = 1;
    run();
    plan_->is_counting = 0;
    std::array<std::uint32_t, kSyscallNames.size()> counted{};
    for (std::size_t i = 0; i < counted.size(); ++i) counted[i] = plan_->seen[i];
    return counted;
  }

 private:
  TempFolder folder_;
  NthCallPlan* plan_;
};

}  // namespace semel::testing
