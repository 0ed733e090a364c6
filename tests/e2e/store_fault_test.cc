#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "tests/e2e/expect_metric.h"
#include "tests/e2e/faulty_disk.h"
#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

/// A file system of two MiB. `is_mounted` is false where the kernel does not permit one.
class SmallDisk {
 public:
  SmallDisk() {
    is_mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=2m") == 0;
    if (!is_mounted_) why_not_ = std::strerror(errno);
  }
  ~SmallDisk() {
    if (is_mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool is_mounted() const { return is_mounted_; }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }

  /// Takes all the room that is left.
  void fill() const {
    std::ofstream ballast(folder_.file("ballast"), std::ios::binary | std::ios::app);
    const std::string piece(1024, 'x');
    while (ballast.write(piece.data(), static_cast<std::streamsize>(piece.size())).flush()) {
    }
  }
  void make_room() const { std::filesystem::remove(folder_.file("ballast")); }

 private:
  TempFolder folder_;
  bool is_mounted_ = false;
  std::string why_not_;
};

/// Expects what spec 8 and 9 say while the store cannot write: no keyed call reaches the tool.
void expect_store_down(Gateway& gateway) {
  const int before = gateway.upstream.requests();
  for (const char* path : {"/tools/book", "/tools/seat"}) {
    SCOPED_TRACE(path);
    const Response refused = gateway.call_tool(path, kBooking, {{"X-Run-Id", "while down"}});
    expect_problem(refused, "store-unavailable");
    EXPECT_EQ(Json::parse(refused.body)["dispatched"].text(), "false");
  }
  EXPECT_EQ(gateway.upstream.requests(), before);
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 200) << "READ_ONLY goes on";
  EXPECT_EQ(gateway.call_tool("/files/a").status, 200) << "and so do plain routes";
  EXPECT_EQ(gateway.upstream.requests(), before + 2);
}

TEST(StoreFault, AFullDiskRefusesKeyedCallsAndHealsOnceThereIsRoom) {
  const SmallDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "no tmpfs may be mounted here: " << disk.why_not();
  Gateway gateway({.store = StoreKind::Sqlite, .store_folder = disk.path()});
  EXPECT_EQ(gateway.book().status, 200);
  disk.fill();
  // What the database had in reserve is used up by a few calls more.
  ASSERT_TRUE(eventually([&, run = 0]() mutable {
    const HeaderLines lines = {{"X-Run-Id", "fill-" + std::to_string(++run)}};
    return gateway.book(kBooking, lines).status == 503;
  }));
  expect_store_down(gateway);
  EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true") << "what is known is replayed";
  disk.make_room();
  EXPECT_TRUE(eventually([&] {
    return gateway.book(kBooking, {{"X-Run-Id", "while down"}}).status == 200;
  })) << "freeing space heals";
  EXPECT_EQ(gateway.book(kBooking, {{"X-Run-Id", "while down"}}).header("Idempotency-Status"),
            "replayed");
}

TEST(StoreFault, CallsInFlightOnADiskThatFillsUpAreCompletedAndNeverRunAgain) {
  const SmallDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "no tmpfs may be mounted here: " << disk.why_not();
  Gateway gateway({.store = StoreKind::Sqlite, .store_folder = disk.path()});
  const std::string body(20'000, 'b');
  gateway.upstream.script([&body](Turn& turn) {
    turn.wait_until_let_go();
    turn.commit();
    turn.send(response_text(200, body));
  });
  constexpr int kCalls = 12;
  const auto book = [&gateway](int call) {
    return gateway.book(kBooking, {{"X-Run-Id", "flying-" + std::to_string(call)}});
  };
  std::vector<std::future<Response>> calls;
  for (int call = 0; call < kCalls; ++call) {
    calls.push_back(std::async(std::launch::async, book, call));
  }
  ASSERT_TRUE(gateway.upstream.sees_requests(kCalls));
  disk.fill();
  gateway.upstream.let_go();
  for (auto& call : calls) {
    const Response answer = call.get();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.header("Idempotency-Status"), "executed") << "it is recorded";
    EXPECT_TRUE(answer.body == body);
    disk.fill();
  }
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_records"), 0);
  expect_store_down(gateway);
  const int before = gateway.upstream.requests();
  const auto expect_all_known = [&] {
    int bare = 0;
    for (int call = 0; call < kCalls; ++call) {
      const Response later = book(call);
      if (later.status == 200) {
        // The last ones may have had the room that nobody needed any more.
        EXPECT_EQ(later.header("Idempotent-Replayed"), "true");
        EXPECT_TRUE(later.body == body);
      } else {
        expect_problem(later, "result-not-kept");
        bare += 1;
      }
    }
    EXPECT_GT(bare, 0);
    EXPECT_EQ(gateway.upstream.requests(), before);
  };
  expect_all_known();
  gateway.semel.kill9();
  gateway.semel.start();
  expect_all_known();
  disk.make_room();
  EXPECT_TRUE(eventually([&] {
    return gateway.book(kBooking, {{"X-Run-Id", "room again"}}).status == 200;
  })) << "freeing space heals";
  EXPECT_EQ(gateway.upstream.requests(), before + 1);
}

TEST(StoreFault, AFailedWriteKeepsTheStoreDownUntilARestart) {
  for (const char* plan : {"fdatasync EIO\nfsync EIO\n", "pwrite EIO\n"}) {
    SCOPED_TRACE(plan);
    const FaultyDisk disk;
    Gateway gateway({.store = StoreKind::Sqlite, .environment = disk.environment()});
    const Response first = gateway.book();
    EXPECT_EQ(first.status, 200);
    disk.fail(plan);
    expect_store_down(gateway);
    disk.heal();
    expect_store_down(gateway);
    EXPECT_GE(gateway.semel.metric("semel_store_errors_total"), 1);
    gateway.semel.kill9();
    gateway.semel.start();
    EXPECT_EQ(gateway.book().header("Idempotent-Replayed"), "true");
    EXPECT_EQ(gateway.book(kBooking, {{"X-Run-Id", "after"}}).header("Idempotency-Status"),
              "executed");
  }
}

TEST(StoreFault, ADiskThatIsFullForTheDatabaseOnlyHealsByItself) {
  const FaultyDisk disk;
  Gateway gateway({.store = StoreKind::Sqlite, .environment = disk.environment()});
  EXPECT_EQ(gateway.book().status, 200);
  disk.fail("pwrite ENOSPC\n");
  expect_store_down(gateway);
  disk.heal();
  EXPECT_TRUE(
      eventually([&] { return gateway.book(kBooking, {{"X-Run-Id", "healed"}}).status == 200; }));
}

/// The seat's route, which asks to be forwarded while the store is down.
std::string forwarding_routes() {
  return R"(
routes:
  - name: seat
    match: {methods: [POST], path: /tools/seat}
    upstream: tool
    policy: IDEMPOTENT
    on_store_down: forward)" +
         std::string(kToolKey);
}

TEST(StoreFault, AnIdempotentRouteMayAskToBeForwardedWhileTheStoreIsDown) {
  const FaultyDisk disk;
  GatewayOptions options;
  options.store = StoreKind::Sqlite;
  options.environment = disk.environment();
  options.routes = forwarding_routes();
  Gateway gateway(options);
  disk.fail("fdatasync EIO\nfsync EIO\npwrite EIO\n");
  for (int call = 1; call <= 2; ++call) {
    const Response forwarded = gateway.call_tool("/tools/seat");
    EXPECT_EQ(forwarded.status, 200);
    EXPECT_EQ(forwarded.header("Idempotency-Status"), "bypassed");
    EXPECT_EQ(gateway.upstream.requests(), call);
  }
}

TEST(StoreFault, AStoreThatDoesNotAnswerInTimeMayHaveClaimedSoNothingIsForwarded) {
  const FaultyDisk disk;
  GatewayOptions options;
  options.store = StoreKind::Sqlite;
  options.environment = disk.environment();
  options.routes = forwarding_routes();
  Gateway gateway(options);
  disk.hang();
  const Response refused = gateway.call_tool("/tools/seat");
  disk.heal();
  expect_problem(refused, "store-unavailable");
  expect_verdict(refused, "IDEMPOTENT", "seat", "false");
  EXPECT_EQ(gateway.upstream.requests(), 0) << "a claim that may stand is neither down nor granted";
  EXPECT_TRUE(eventually([&] {
    return gateway.call_tool("/tools/seat").header("Idempotency-Status") == "executed";
  })) << "the claim that nobody waited for is given back";
  EXPECT_EQ(gateway.call_tool("/tools/seat").header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(StoreFault, TheNextCallTakesThePlaceOfAClaimWhoseAnswerNeverCame) {
  const FaultyDisk disk;
  GatewayOptions options;
  options.store = StoreKind::Sqlite;
  options.environment = disk.environment();
  Gateway gateway(options);
  disk.hang();
  for (int call = 1; call <= 3; ++call) {
    const Response refused = gateway.book();
    expect_problem(refused, "store-unavailable");
    EXPECT_EQ(refused.header("x-should-retry"), "true");
  }
  disk.heal();
  // The lease of such a claim is longer than anybody here waits.
  EXPECT_TRUE(
      eventually([&] { return gateway.book().header("Idempotency-Status") == "executed"; }));
  EXPECT_EQ(gateway.book().header("Idempotency-Status"), "replayed");
  EXPECT_EQ(gateway.upstream.requests(), 1);
  EXPECT_EQ(gateway.semel.metric("semel_indeterminate_records"), 0);
  EXPECT_EQ(gateway.semel.metric("semel_stale_writer_total"), 0);
}

TEST(StoreFault, AnAnswerWithoutABodyIsToldAsUnrecordedToo) {
  struct Row {
    const char* name;
    const char* answer;
    int status;
  };
  constexpr Row kRows[] = {
      {"empty event stream",
       "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n", 200},
      {"event stream, 204", "HTTP/1.1 204 No Content\r\nContent-Type: text/event-stream\r\n\r\n",
       204},
      {"204", "HTTP/1.1 204 No Content\r\n\r\n", 204},
  };
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const FaultyDisk disk;
    Gateway gateway({.store = StoreKind::Sqlite, .environment = disk.environment()});
    gateway.upstream.script([&](Turn& turn) {
      turn.commit();
      disk.fail("fdatasync EIO\nfsync EIO\n");
      turn.send(row.answer);
    });
    const Response first = gateway.book();
    EXPECT_EQ(name(first.end), "complete");
    EXPECT_EQ(first.status, row.status);
    EXPECT_EQ(first.header("Idempotency-Status"), "unrecorded")
        << "its head is its last byte, and waits for the record";
    expect_metric(gateway, "semel_requests_total", {{"route", "book"}, {"outcome", "unrecorded"}},
                  1);
  }
}

TEST(StoreFault, AnEffectWhoseRecordCannotBeWrittenIsToldAndNeverRunsAgain) {
  const FaultyDisk disk;
  Gateway gateway({.store = StoreKind::Sqlite, .environment = disk.environment()});
  gateway.upstream.script([&disk](Turn& turn) {
    turn.commit();
    disk.fail("fdatasync EIO\nfsync EIO\npwrite EIO\n");
    turn.send(response_text(201, R"({"id":"b-1"})"));
  });
  const Response first = gateway.book();
  EXPECT_EQ(first.status, 201) << "the answer is relayed";
  EXPECT_EQ(first.header("Idempotency-Status"), "unrecorded");
  EXPECT_NE(gateway.book().status, 201);
  disk.heal();
  gateway.semel.kill9();
  gateway.semel.start();
  const Response later = gateway.book();
  EXPECT_TRUE(later.status == 409 || later.header("Idempotent-Replayed") == "true") << later.status;
  EXPECT_EQ(gateway.upstream.effects(), 1);
}

TEST(StoreFault, AFullMemoryStoreRefusesNewKeysAndForgetsNone) {
  Gateway gateway({.memory_limits = ", max_records: 3"});
  const auto book = [&](int run) {
    return gateway.book(kBooking, {{"X-Run-Id", std::to_string(run)}});
  };
  for (int run = 1; run <= 3; ++run) EXPECT_EQ(book(run).status, 200);
  expect_problem(book(4), "store-unavailable");
  for (int run = 1; run <= 3; ++run) EXPECT_EQ(book(run).header("Idempotent-Replayed"), "true");
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 200);
  EXPECT_EQ(gateway.upstream.effects(), 4) << "three bookings and one look at the fares";
}

}  // namespace
}  // namespace semel::testing
