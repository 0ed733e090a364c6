#pragma once

// A file system of the system's own that really fills up, in a process of its own.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>

#include "tests/stores/requests.h"

namespace semel::testing {

/// What lies on the disk beside the store, and takes all the room that it finds.
class Neighbour {
 public:
  explicit Neighbour(std::string folder) : path_(std::move(folder) + "/neighbour") {}

  void take_all() const { take(~std::size_t{0}); }
  /// Takes all but so many bytes.
  void leave(std::size_t bytes) const {
    take_all();
    const int descriptor = ::open(path_.c_str(), O_RDWR);
    const off_t size = ::lseek(descriptor, 0, SEEK_END);
    static_cast<void>(::ftruncate(descriptor, size - static_cast<off_t>(bytes)));
    ::close(descriptor);
  }
  void go() const { ::unlink(path_.c_str()); }

 private:
  void take(std::size_t bytes) const {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const std::string page(4'096, 'x');
    for (std::size_t piece = page.size(); piece > 0 && bytes > 0;) {
      const ssize_t size = ::write(descriptor, page.data(), std::min(piece, bytes));
      if (size <= 0) {
        piece /= 2;
      } else {
        bytes -= static_cast<std::size_t>(size);
      }
    }
    ::close(descriptor);
  }

  std::string path_;
};

/// Ends a story with this sentence unless the condition holds.
inline void demand(bool condition, const std::string& complaint) {
  if (!condition) throw std::runtime_error(complaint);
}

/// Runs `story` in a process and a mount namespace of its own, so that nothing is left mounted, on
/// a disk of `size` (`2m`).
inline void on_a_small_disk(const std::string& size,
                            const std::function<void(const std::string& folder)>& story) {
  static constexpr char kNoMount[] = "no mount";
  TemporaryFolder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::string complaint = kNoMount;
    const std::string options = "size=" + size;
    if (::unshare(CLONE_NEWNS) == 0 && ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, "") == 0 &&
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, options.c_str()) == 0) {
      complaint.clear();
      try {
        story(folder.path());
      } catch (const std::exception& failure) {
        complaint = failure.what();
      }
    }
    static_cast<void>(::write(ends[1], complaint.data(), complaint.size()));
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string complaint;
  char piece[256];
  for (ssize_t got = 0; (got = ::read(ends[0], piece, sizeof piece)) > 0;) {
    complaint.append(piece, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (complaint == kNoMount) GTEST_SKIP() << "needs the right to mount a tmpfs of its own";
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(complaint, "");
}

}  // namespace semel::testing
