#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace semel::testing {

/// A system call that libsemel_nth_call counts: one of the store's files, of a socket, or of the
/// event loop. Its siblings count as the same call (`recv`, `recvmsg` and `readv`).
enum class Syscall : std::uint8_t {
  None,
  Open,
  Pread,
  Pwrite,
  Fdatasync,
  Fsync,
  Ftruncate,
  Fallocate,
  CloseFile,
  Accept,
  Socket,
  Connect,
  Recv,
  Send,
  Setsockopt,
  Getsockopt,
  Ioctl,
  Shutdown,
  CloseSocket,
  EpollCtl,
  EpollWait,
};
inline constexpr std::array<const char*, 21> kSyscallNames = {
    "none",           "open",      "pread",        "pwrite",     "fdatasync", "fsync",
    "ftruncate",      "fallocate", "close (file)", "accept",     "socket",    "connect",
    "recv",           "send",      "setsockopt",   "getsockopt", "ioctl",     "shutdown",
    "close (socket)", "epoll_ctl", "epoll_wait"};

/// What a call meets.
enum class Fate : std::uint8_t {
  Spared,      ///< It is carried out.
  Kill,        ///< SIGKILL instead of it.
  KillBehind,  ///< SIGKILL once it is done.
  Stop,        ///< SIGSTOP before it.
  Fail,   ///< It is not carried out and fails with `Strike::error`; `close` closes all the same.
  Short,  ///< Of what it was to move, one byte.
  Cut,    ///< One byte is sent, then the connection is over.
};

/// Which call is to meet what: the `left`-th from now on of that kind.
struct Strike {
  Syscall call = Syscall::None;
  Fate fate = Fate::Spared;
  std::uint8_t error = 0;  ///< An errno.
  std::uint8_t reserved = 0;
  std::uint32_t left = 0;  ///< 0: it has struck, or there is none.
};

/// What the library and the test share: a mapped file. It outlives the process that is struck.
struct NthCallPlan {
  std::atomic<Strike> strike;
  std::atomic<std::uint32_t> is_counting;  ///< Whether `seen` goes up.
  std::array<std::atomic<std::uint32_t>, kSyscallNames.size()> seen;
};
static_assert(std::atomic<Strike>::is_always_lock_free);
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace semel::testing
