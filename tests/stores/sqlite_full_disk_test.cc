// A file system that is really full: the system's own ENOSPC, not one that a test made up.

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/stores/sqlite_fixture.h"

namespace semel::testing {
namespace {

enum Exit : int { kHealed = 0, kNoMount = 10, kNeverFull, kLostARecord, kDidNotHeal };

/// In a process and a mount namespace of its own, so that nothing is left mounted.
int fill_and_free(const std::string& folder, const StoreClock& clock) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=2m") != 0) {
    return kNoMount;
  }
  SqliteOptions options;
  options.path = folder + "/semel.db";
  static_cast<void>(init_store(options));
  const std::string ballast = folder + "/ballast";
  FILE* file = std::fopen(ballast.c_str(), "wb");
  const std::string megabyte(1 << 20, 'x');
  std::fwrite(megabyte.data(), 1, megabyte.size(), file);
  std::fclose(file);

  const auto store = open_store(options, clock);
  std::uint64_t kept = 0;
  Result<WriteReply> written = WriteReply::Done;
  Attempt last;
  while (written && kept < 100) {
    const auto request = request_of(kept, kept);
    const auto reply = run(store->claim(request));
    if (!reply) {
      written = reply.error();
      break;
    }
    last = {request.key, request.token, std::get<Granted>(*reply).fence};
    written = run(store->record(last, response_of(200, std::string(50'000, 'x'))));
    if (written) kept += 1;
  }
  if (written || written.error() != Fault::StoreFull) return kNeverFull;
  for (std::uint64_t n = 0; n < kept; ++n) {
    const auto view = run(store->find(request_of(n, n).key));
    if (!view || !*view || (*view)->state != RecordView::State::Completed) return kLostARecord;
  }
  ::unlink(ballast.c_str());
  const auto healed = run(store->claim(request_of(1'000, 1'000)));
  store->close();
  return healed && std::holds_alternative<Granted>(*healed) ? kHealed : kDidNotHeal;
}

TEST(SqliteFullDisk, ARealFullFileSystemRefusesAndHealsByItself) {
  TemporaryFolder folder;
  MovedClock clock;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(fill_and_free(folder.path(), clock.clock()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoMount) {
    GTEST_SKIP() << "SqliteFullDisk needs the right to mount a tmpfs of its own";
  }
  EXPECT_EQ(WEXITSTATUS(status), kHealed);
}

}  // namespace
}  // namespace semel::testing
