#include "proxy/access_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/json.h"
#include "tests/support/temp_folder.h"

namespace semel::proxy {
namespace {

using ::testing::ElementsAre;
using testing::Json;

class AccessLogTest : public ::testing::Test {
 protected:
  AccessLogTest() : fd(::open(path().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {}
  ~AccessLogTest() override { ::close(fd); }
  [[nodiscard]] std::string path() const { return folder.file("access.log"); }
  [[nodiscard]] std::string written() const { return testing::read_file(path()); }

  Counter dropped;

  /// The one line of one entry.
  Json line(const AccessEntry& entry) {
    AccessLog log(fd, dropped);
    log.write(entry);
    log.flush();
    const std::string text = written();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_TRUE(text.ends_with("}\n"));
    return Json::parse(text);
  }
  testing::TempFolder folder;
  int fd;
};

std::vector<std::string> names_of(const Json& line) {
  std::vector<std::string> names;
  for (const auto& [name, value] : line.members()) names.push_back(name);
  return names;
}

TEST_F(AccessLogTest, SaysWhoAskedWhatCameOfItAndHowLongItTook) {
  IdempotencyKey key;
  key.bytes.fill(0xAB);
  AccessEntry entry;
  entry.method = "POST";
  entry.route = "book";
  entry.policy = Policy::Effectful;
  entry.outcome = Outcome::Indeterminate;
  entry.problem = "indeterminate";
  entry.key = &key;
  entry.reference = "00112233445566778899aabbccddeeff";
  entry.upstream_end = UpstreamEnd::Unanswered;
  entry.upstream_failure = "timeout";
  entry.status = 409;
  entry.duration = std::chrono::microseconds(1234);
  entry.upstream_duration = std::chrono::nanoseconds(999'999);
  entry.bytes_sent = 5'000'000'000;
  entry.trace_id = "0af7651916cd43dd8448eb211c80319c";
  entry.client_gone = true;
  const Json said = line(entry);
  EXPECT_EQ(said["method"].text(), "POST");
  EXPECT_EQ(said["route"].text(), "book");
  EXPECT_EQ(said["policy"].text(), "EFFECTFUL");
  EXPECT_EQ(said["outcome"].text(), "indeterminate");
  EXPECT_EQ(said["status"].text(), "409");
  EXPECT_EQ(said["problem"].text(), "indeterminate");
  EXPECT_EQ(said["reference"].text(), "00112233445566778899aabbccddeeff");
  EXPECT_EQ(said["upstream_end"].text(), "unanswered");
  EXPECT_EQ(said["upstream_failure"].text(), "timeout");
  EXPECT_EQ(said["duration_us"].text(), "1234");
  EXPECT_EQ(said["upstream_us"].text(), "999");
  EXPECT_EQ(said["bytes"].text(), "5000000000");
  EXPECT_EQ(said["trace_id"].text(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(said["client_gone"].text(), "true");
}

TEST_F(AccessLogTest, ShowsEightDigitsOfAKeyAndNoMore) {
  IdempotencyKey key;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) key.bytes[i] = static_cast<std::uint8_t>(i);
  AccessEntry entry;
  entry.key = &key;
  EXPECT_EQ(line(entry)["key"].text(), "00010203");
  EXPECT_EQ(written().find("0001020304"), std::string::npos);
}

TEST_F(AccessLogTest, LeavesOutWhatThereIsNot) {
  EXPECT_THAT(names_of(line({})),
              ElementsAre("time", "method", "route", "policy", "outcome", "status", "stage", "act",
                          "duration_us", "upstream_us", "bytes"));
}

TEST_F(AccessLogTest, ItsTimeIsRfc3339InUtcToTheMillisecond) {
  EXPECT_THAT(line({})["time"].text(),
              ::testing::MatchesRegex(
                  "2[0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]"
                  "\\.[0-9][0-9][0-9]Z"));
}

TEST_F(AccessLogTest, NoTextBreaksOutOfItsLine) {
  AccessEntry entry;
  entry.route = "a\"},{\"b\\\n\r\t\x01\x7F";
  entry.method = "caf\xC3\xA9 \xFF";
  const Json said = line(entry);
  ASSERT_EQ(said.kind(), Json::Kind::Object);
  EXPECT_EQ(said["route"].text(), entry.route);
  EXPECT_EQ(said["method"].text(), "caf\xC3\xA9 \xEF\xBF\xBD");
}

TEST_F(AccessLogTest, GathersLinesAndWritesWholeOnes) {
  AccessLog log(fd, dropped);
  AccessEntry entry;
  entry.route = "book";
  log.write(entry);
  EXPECT_EQ(written(), "");
  // Two blocks: what has been written by itself always ends with a line.
  std::string sofar;
  for (int i = 0; i < 1000 && sofar.size() < 64 * 1024; ++i) {
    log.write(entry);
    sofar = written();
    ASSERT_TRUE(sofar.empty() || sofar.ends_with("}\n"));
  }
  EXPECT_GE(sofar.size(), 64U * 1024);
}

TEST_F(AccessLogTest, WritersOfOneFileDoNotTearEachOthersLines) {
  AccessLog one(fd, dropped), other(fd, dropped);
  for (int i = 0; i < 500; ++i) {
    one.write({});
    other.write({});
  }
  one.flush();
  other.flush();
  std::string text = written();
  int lines = 0;
  for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
    EXPECT_EQ(Json::parse(text.substr(0, end)).kind(), Json::Kind::Object);
    text.erase(0, end + 1);
    ++lines;
  }
  EXPECT_EQ(lines, 1000);
  EXPECT_EQ(text, "");
}

TEST_F(AccessLogTest, AReaderThatDoesNotReadCostsLinesThatAreCountedAndNeverWaits) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  AccessLog log(ends[1], dropped);
  // Far more than a pipe and the log itself hold; a write that waited would never come back.
  constexpr std::uint64_t kLines = 20'000;
  for (std::uint64_t i = 0; i < kLines; ++i) log.write({});
  EXPECT_GT(dropped.read(), 0U);
  std::string text;
  char piece[4096];
  for (int round = 0; round < 1000; ++round) {
    log.flush();
    pollfd readable{ends[0], POLLIN, 0};
    if (::poll(&readable, 1, 0) != 1) break;
    const auto got = ::read(ends[0], piece, sizeof piece);
    ASSERT_GT(got, 0);
    text.append(piece, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  ::close(ends[1]);
  // Every line that was not counted as dropped is there, whole.
  std::istringstream lines(text);
  std::uint64_t whole = 0;
  for (std::string one; std::getline(lines, one); ++whole) {
    ASSERT_EQ(Json::parse(one).kind(), Json::Kind::Object);
  }
  EXPECT_EQ(whole + dropped.read(), kLines);
}

TEST_F(AccessLogTest, OneThatIsOffIsSilent) {
  AccessLog log(-1, dropped);
  EXPECT_FALSE(log.is_on());
  log.write({});
  log.flush();
}

TEST_F(AccessLogTest, AFileThatTakesNoMoreLosesLinesAndNothingElse) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  AccessLog log(full, dropped);
  for (int i = 0; i < 1000; ++i) log.write({});
  log.flush();
  ::close(full);
}

}  // namespace
}  // namespace semel::proxy
