// The operator's pages over a memory store whose clock the test moves: spec 6 and 11.
#include "proxy/admin.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "core/claim.h"
#include "stores/open.h"
#include "tests/stores/requests.h"
#include "tests/stores/run.h"
#include "tests/support/json.h"
#include "tests/support/temp_folder.h"

namespace semel::proxy {
namespace {

using semel::testing::Json;
using semel::testing::request_of;
using semel::testing::run;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using namespace std::chrono_literals;

class AdminPages : public ::testing::Test {
 protected:
  AdminPages() : store_(open_store(MemoryOptions{}, clock_.clock())) { open({}); }
  ~AdminPages() override {
    store_->close();
    ::close(log_fd_);
  }

  void open(Reload reload) {
    admin_.emplace(*store_, shard_, AuditLog(log_fd_), std::move(reload));
  }

  PageReply ask(std::string method, std::string target, std::string body = {}) {
    PageRequest request;
    request.method = std::move(method);
    const std::size_t mark = std::min(target.find('?'), target.size());
    request.path = target.substr(0, mark);
    request.query = target.substr(std::min(mark + 1, target.size()));
    request.body = std::move(body);
    return run(admin_->answer(std::move(request)));
  }
  PageReply resolve(const ClaimRequest& request, const std::string& order) {
    return ask("POST", "/v1/records/" + to_hex(request.reference) + "/resolve", order);
  }
  Json list(const std::string& query = {}) {
    const PageReply reply = ask("GET", "/v1/records" + query);
    EXPECT_EQ(reply.status, 200) << reply.body;
    return Json::parse(reply.body);
  }

  Attempt claimed(const ClaimRequest& request) {
    const auto reply = run(store_->claim(request));
    return {request.key, request.token, std::get<Granted>(reply.value()).fence};
  }
  /// A record whose outcome is unknown and whose attempt may still run for 30 s.
  ClaimRequest unknown(std::uint64_t number, const std::string& tenant = "acme") {
    ClaimRequest request = request_of(number, number);
    request.tenant = tenant;
    run(store_->mark_indeterminate(claimed(request), IndeterminateReason::Timeout, 504)).value();
    return request;
  }

  std::vector<Json> audit() {
    std::vector<Json> lines;
    std::istringstream text(semel::testing::read_file(folder_.file("log")));
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  static std::string slug_of(const PageReply& reply) {
    EXPECT_EQ(reply.content_type, "application/problem+json");
    const std::string type = Json::parse(reply.body)["type"].text();
    EXPECT_EQ(Json::parse(reply.body)["status"].text(), std::to_string(reply.status));
    return std::to_string(reply.status) + " " + type.substr(type.rfind('/') + 1);
  }

  semel::testing::MovedClock clock_;
  semel::testing::TempFolder folder_;
  int log_fd_ =
      ::open(folder_.file("log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::unique_ptr<Store> store_;
  MetricsShard shard_;
  std::optional<Admin> admin_;
};

TEST_F(AdminPages, ARecordShowsWhatAnOperatorNeedsAndNoSecret) {
  const ClaimRequest request = unknown(1);
  clock_.advance(10s);
  const PageReply reply = ask("GET", "/v1/records/" + to_hex(request.reference));
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.content_type, "application/json");
  const Json record = Json::parse(reply.body);
  std::vector<std::pair<std::string, std::string>> told;
  for (const auto& [name, value] : record.members()) told.emplace_back(name, value.text());
  // 1,760,000,000 s: where the test's wall clock begins.
  EXPECT_THAT(told, ElementsAre(Pair("reference", to_hex(request.reference)),
                                Pair("state", "indeterminate"), Pair("route", "book"),
                                Pair("policy", "EFFECTFUL"), Pair("tenant", "acme"),
                                Pair("key", to_hex(request.key).substr(0, 8)), Pair("fence", "1"),
                                Pair("created", "2025-10-09T08:53:20.000Z"),
                                Pair("changed", "2025-10-09T08:53:20.000Z"),
                                Pair("expires_in_seconds", "null"), Pair("lease_left_ms", "20000"),
                                Pair("reason", "timeout"), Pair("upstream_status", "504")));
  for (const std::string& secret :
       {to_hex(request.token), to_hex(request.bindings.caller), to_hex(request.key).substr(0, 9)}) {
    EXPECT_EQ(reply.body.find(secret), std::string::npos) << secret;
  }
}

TEST_F(AdminPages, AnAnswerIsShownByItsStatusAndSizeOnly) {
  const ClaimRequest request = request_of(1, 1);
  run(store_->record(claimed(request), semel::testing::response_of(201, "SECRET"))).value();
  const PageReply reply = ask("GET", "/v1/records/" + to_hex(request.reference));
  const Json record = Json::parse(reply.body);
  EXPECT_EQ(record["state"].text(), "completed");
  EXPECT_EQ(record["response"]["status"].text(), "201");
  EXPECT_EQ(record["response"]["kept"].text(), "true");
  EXPECT_EQ(record["response"]["body_bytes"].text(), "6");
  EXPECT_EQ(record["expires_in_seconds"].text(), "86400");
  EXPECT_TRUE(record["lease_left_ms"].is_absent());
  EXPECT_EQ(reply.body.find("SECRET"), std::string::npos) << "it is its caller's";
}

TEST_F(AdminPages, AListIsFilteredByStateAndTenant) {
  unknown(1, "acme");
  unknown(2, "caf\xC3\xA9 & co");
  run(store_->record(claimed(request_of(3, 3)), semel::testing::response_of(200, "x"))).value();
  claimed(request_of(4, 4));
  EXPECT_EQ(list()["records"].items().size(), 4U);
  EXPECT_EQ(list("?state=indeterminate")["records"].items().size(), 2U);
  EXPECT_EQ(list("?state=completed")["records"].items().size(), 1U);
  EXPECT_EQ(list("?state=in_flight")["records"].items().size(), 1U);
  EXPECT_EQ(list("?tenant=caf%C3%A9+%26%20co")["records"].items().size(), 1U);
  EXPECT_EQ(list("?tenant=acme&state=indeterminate")["records"].items().size(), 1U);
  EXPECT_EQ(list("?tenant=nobody")["records"].items().size(), 0U);
  EXPECT_EQ(list()["next"].kind(), Json::Kind::Null);
}

TEST_F(AdminPages, AListGoesOnWhereThePageBeforeEnded) {
  for (std::uint64_t number = 1; number <= 5; ++number) unknown(number);
  std::vector<std::string> fences;
  std::string after;
  for (int page = 0; page < 3; ++page) {
    const Json shown = list("?limit=2" + after);
    for (const Json& record : shown["records"].items()) fences.push_back(record["fence"].text());
    EXPECT_EQ(shown["next"].kind(), page < 2 ? Json::Kind::String : Json::Kind::Null);
    after = "&after=" + shown["next"].text();
  }
  EXPECT_THAT(fences, ElementsAre("1", "2", "3", "4", "5"));
}

TEST_F(AdminPages, WhatIsNotUnderstoodIsRefusedAndNotGuessed) {
  const std::string record = "/v1/records/" + to_hex(request_of(1, 1).reference);
  struct Row {
    const char* method;
    std::string target;
    const char* slug;
  };
  const Row rows[] = {
      {"GET", "/", "404 no-route"},
      {"GET", "/v1", "404 no-route"},
      {"GET", "/v1/records/", "404 no-record"},
      {"GET", "/v1/record", "404 no-route"},
      {"GET", "/metrics", "404 no-route"},
      {"POST", "/-/reload", "404 no-route"},
      {"GET", record, "404 no-record"},
      {"GET", record.substr(0, record.size() - 1), "404 no-record"},
      {"GET", "/v1/records/00112233445566778899AABBCCDDEEFF", "404 no-record"},
      {"POST", "/v1/records/x/resolve", "404 no-record"},
      {"GET", "/v1/records?state=unknown", "400 bad-request"},
      {"GET", "/v1/records?limit=0", "400 bad-request"},
      {"GET", "/v1/records?limit=1001", "400 bad-request"},
      {"GET", "/v1/records?limit=ten", "400 bad-request"},
      {"GET", "/v1/records?tenat=acme", "400 bad-request"},
      {"GET", "/v1/records?tenant=a&tenant=b", "400 bad-request"},
      {"GET", "/v1/records?tenant=%", "400 bad-request"},
      {"GET", record + "?state=completed", "400 bad-request"},
      {"POST", record + "/resolve", "400 bad-request"},
      {"DELETE", "/v1/tenants/acme/records?operator=a%0Ab", "400 bad-request"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(slug_of(ask(row.method, row.target)), row.slug) << row.method << " " << row.target;
  }
  EXPECT_TRUE(audit().empty()) << "what was not understood was no order";
}

TEST_F(AdminPages, AnotherMethodIsToldTheRightOnes) {
  const auto allow = [&](const char* method, const char* target) {
    const PageReply reply = ask(method, target);
    EXPECT_EQ(slug_of(reply), "405 method");
    return reply.fields.empty() ? std::pair<std::string, std::string>() : reply.fields[0];
  };
  EXPECT_THAT(allow("POST", "/v1/records"), Pair("Allow", "GET"));
  EXPECT_THAT(allow("DELETE", "/v1/records/x"), Pair("Allow", "GET"));
  EXPECT_THAT(allow("GET", "/v1/records/x/resolve"), Pair("Allow", "POST"));
  EXPECT_THAT(allow("GET", "/v1/tenants/acme/records"), Pair("Allow", "DELETE"));
}

TEST_F(AdminPages, WhatHappenedIsCompletedWithItsAnswer) {
  const ClaimRequest request = unknown(1);
  const PageReply reply =
      resolve(request,
              R"({"decision":"happened","response":{"status":201,"body":"B-7"},"operator":"kim"})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(Json::parse(reply.body)["state"].text(), "completed");
  EXPECT_EQ(Json::parse(reply.body)["response"]["status"].text(), "201");
  const auto told = run(store_->claim(request_of(1, 2)));
  const auto& completed = std::get<Completed>(told.value());
  EXPECT_EQ(completed.response->status, 201);
  EXPECT_EQ(completed.response->body, "B-7");
  EXPECT_EQ(shard_.resolutions[0].read(), 1U);
  EXPECT_EQ(shard_.resolutions[1].read(), 0U);
}

TEST_F(AdminPages, WhatHappenedMayHaveNoAnswer) {
  const ClaimRequest request = unknown(1);
  const PageReply reply = resolve(request, R"({"decision":"happened"})");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(Json::parse(reply.body)["response"]["kept"].text(), "false");
  EXPECT_TRUE(Json::parse(reply.body)["response"]["status"].is_absent());
}

TEST_F(AdminPages, WhatMayStillHappenIsNotSaidNotToHaveHappened) {
  const ClaimRequest request = unknown(1);
  clock_.advance(12'300ms);  // Of a lease of 30 s.
  const PageReply early = resolve(request, R"({"decision":"did_not_happen"})");
  EXPECT_EQ(slug_of(early), "409 attempt-alive");
  EXPECT_THAT(early.fields, ElementsAre(Pair("Retry-After", "18")));
  EXPECT_EQ(Json::parse(early.body)["reference"].text(), to_hex(request.reference));
  EXPECT_EQ(shard_.resolutions[1].read(), 0U);
  clock_.advance(18s);
  const PageReply late = resolve(request, R"({"decision":"did_not_happen"})");
  EXPECT_EQ(late.status, 200) << late.body;
  EXPECT_EQ(Json::parse(late.body)["reference"].text(), to_hex(request.reference));
  EXPECT_EQ(Json::parse(late.body)["state"].text(), "absent");
  EXPECT_EQ(shard_.resolutions[1].read(), 1U);
  EXPECT_TRUE(std::holds_alternative<Granted>(run(store_->claim(request_of(1, 2))).value()));
}

TEST_F(AdminPages, AnAttemptWhoseConnectionIsGoneIsResolvedAtOnce) {
  const ClaimRequest request = request_of(1, 1);
  run(store_->mark_indeterminate(claimed(request), IndeterminateReason::Cut, std::nullopt)).value();
  EXPECT_EQ(resolve(request, R"({"decision":"did_not_happen"})").status, 200);
}

TEST_F(AdminPages, OnlyTheCurrentAttemptCanBeMeant) {
  const ClaimRequest first = unknown(1);
  clock_.advance(31s);
  ASSERT_EQ(resolve(first, R"({"decision":"did_not_happen"})").status, 200);
  claimed(request_of(1, 2));
  EXPECT_EQ(slug_of(resolve(first, R"({"decision":"happened"})")), "409 not-current");
  EXPECT_EQ(slug_of(resolve(request_of(9, 9), R"({"decision":"happened"})")), "409 not-current");
}

TEST_F(AdminPages, WhatIsKnownIsNotResolved) {
  const ClaimRequest flying = request_of(1, 1);
  claimed(flying);
  EXPECT_EQ(slug_of(resolve(flying, R"({"decision":"happened"})")), "409 not-indeterminate");
  const ClaimRequest done = request_of(2, 2);
  run(store_->record(claimed(done), semel::testing::response_of(200, "x"))).value();
  EXPECT_EQ(slug_of(resolve(done, R"({"decision":"did_not_happen"})")), "409 not-indeterminate");
  EXPECT_EQ(shard_.resolutions[0].read() + shard_.resolutions[1].read(), 0U);
}

TEST_F(AdminPages, ATenantIsForgottenByItsDecodedName) {
  unknown(1, "a/b c");
  ClaimRequest done = request_of(2, 2);
  done.tenant = "a/b c";
  run(store_->record(claimed(done), semel::testing::response_of(200, "x"))).value();
  unknown(3, "other");
  const PageReply reply = ask("DELETE", "/v1/tenants/a%2Fb%20c/records?note=GDPR+7");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(Json::parse(reply.body)["forgotten"].text(), "2");
  EXPECT_EQ(list("?tenant=a/b+c")["records"].items().size(), 0U);
  EXPECT_EQ(list("?state=indeterminate")["records"].items().size(), 2U) << "a tombstone stays";
  ASSERT_EQ(audit().size(), 1U);
  EXPECT_EQ(audit()[0]["tenant"].text(), "a/b c");
  EXPECT_EQ(audit()[0]["forgotten"].text(), "2");
  EXPECT_EQ(audit()[0]["note"].text(), "GDPR 7");
}

TEST_F(AdminPages, EveryOrderLeavesALineAndNoPayloadInIt) {
  const ClaimRequest request = unknown(1);
  EXPECT_EQ(
      resolve(request, R"({"decision":"did_not_happen","operator":"kim","note":"\"no\""})").status,
      409);
  EXPECT_EQ(resolve(request, R"({"decision":"happened","note":"seen","response":)"
                             R"({"status":200,"headers":[["X-A","SECRET"]],"body":"SECRET"}})")
                .status,
            200);
  EXPECT_EQ(resolve(request, R"({"decision":"happened"})").status, 409);
  const std::vector<Json> lines = audit();
  ASSERT_EQ(lines.size(), 3U);
  for (const Json& line : lines) {
    EXPECT_EQ(line["kind"].text(), "audit");
    EXPECT_EQ(line["action"].text(), "resolve");
    EXPECT_EQ(line["reference"].text(), to_hex(request.reference));
    EXPECT_EQ(line["time"].text().size(), std::string("2026-11-30T18:52:29.123Z").size());
  }
  EXPECT_EQ(lines[0]["decision"].text(), "did_not_happen");
  EXPECT_EQ(lines[0]["operator"].text(), "kim");
  EXPECT_EQ(lines[0]["note"].text(), "\"no\"");
  EXPECT_EQ(lines[0]["result"].text(), "attempt_alive");
  EXPECT_EQ(lines[1]["result"].text(), "done");
  EXPECT_EQ(lines[1]["note"].text(), "seen");
  EXPECT_TRUE(lines[1]["operator"].is_absent());
  EXPECT_EQ(lines[2]["result"].text(), "not_indeterminate");
  EXPECT_THAT(semel::testing::read_file(folder_.file("log")), ::testing::Not(HasSubstr("SECRET")));
}

TEST_F(AdminPages, AStoreThatIsGoneChangesNothingAndIsSaid) {
  const ClaimRequest request = unknown(1);
  store_->close();
  EXPECT_EQ(slug_of(ask("GET", "/v1/records")), "503 store-unavailable");
  EXPECT_EQ(slug_of(resolve(request, R"({"decision":"happened"})")), "503 store-unavailable");
  EXPECT_EQ(slug_of(ask("DELETE", "/v1/tenants/acme/records")), "503 store-unavailable");
  ASSERT_EQ(audit().size(), 2U);
  EXPECT_EQ(audit()[0]["result"].text(), "store_unreachable");
  EXPECT_EQ(audit()[1]["result"].text(), "store_unreachable");
  EXPECT_EQ(shard_.resolutions[0].read(), 0U);
}

TEST_F(AdminPages, AStoreThatIsNotSuspectNeedsNoAcknowledgement) {
  const PageReply reply = ask("POST", "/v1/store/acknowledge?operator=kim");
  EXPECT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(Json::parse(reply.body)["was_suspect"].text(), "false");
  ASSERT_EQ(audit().size(), 1U);
  EXPECT_EQ(audit()[0]["action"].text(), "acknowledge");
  EXPECT_EQ(audit()[0]["operator"].text(), "kim");
  EXPECT_EQ(audit()[0]["result"].text(), "not_suspect");
}

Task<ReloadReport> report_of(std::vector<std::string> acknowledged) {
  ReloadReport report;
  report.done = acknowledged.size() == 2;
  for (const std::string& route : acknowledged) report.text += route + ";";
  co_return report;
}

TEST_F(AdminPages, AReloadIsToldWhichRoutesAreAcknowledged) {
  open(report_of);
  const PageReply taken = ask("POST", "/-/reload?acknowledge=book&acknowledge=pay%20out&note=n");
  EXPECT_EQ(taken.status, 200) << taken.body;
  EXPECT_EQ(Json::parse(taken.body)["text"].text(), "book;pay out;");
  const PageReply refused = ask("POST", "/-/reload?acknowledge=book");
  EXPECT_EQ(slug_of(refused), "409 reload-refused");
  EXPECT_EQ(Json::parse(refused.body)["detail"].text(), "book;");
  const std::vector<Json> lines = audit();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0]["action"].text(), "reload");
  EXPECT_EQ(lines[0]["acknowledged"].items().size(), 2U);
  EXPECT_EQ(lines[0]["acknowledged"].items()[1].text(), "pay out");
  EXPECT_EQ(lines[0]["result"].text(), "done");
  EXPECT_EQ(lines[1]["result"].text(), "refused");
}

}  // namespace
}  // namespace semel::proxy
