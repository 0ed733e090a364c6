#include <gtest/gtest.h>

#include "tests/e2e/expect_metric.h"
#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

TEST(Observe, EveryExchangeIsOneJsonLine) {
  GatewayOptions options;
  options.more = "workers: 1\n";  // Lines of one worker come in the order of the exchanges.
  Gateway gateway(options);
  EXPECT_EQ(gateway.book().status, 200);
  EXPECT_EQ(gateway.book().status, 200);
  EXPECT_EQ(gateway.call_tool("/tools/fare").status, 200);
  EXPECT_EQ(gateway.call_tool("/nowhere").status, 404);
  const std::vector<Json> lines = gateway.semel.access_log(4);
  ASSERT_EQ(lines.size(), 4U);
  struct Row {
    const char* route;
    const char* policy;
    const char* status;
  };
  constexpr Row kRows[] = {
      {"book", "EFFECTFUL", "200"}, {"book", "EFFECTFUL", "200"}, {"fare", "READ_ONLY", "200"}};
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(lines[i].kind(), Json::Kind::Object);
    EXPECT_EQ(lines[i]["route"].text(), kRows[i].route);
    EXPECT_EQ(lines[i]["policy"].text(), kRows[i].policy);
    EXPECT_EQ(lines[i]["status"].text(), kRows[i].status);
    EXPECT_FALSE(lines[i]["outcome"].is_absent());
  }
  EXPECT_NE(lines[0]["outcome"].text(), lines[1]["outcome"].text()) << "relayed and replayed";
  EXPECT_EQ(lines[3]["status"].text(), "404");
}

TEST(Observe, NoLogMetricOrProblemHoldsABodyAnArgumentATokenOrAWholeKey) {
  Gateway gateway;
  const std::string body = R"({"flight":"SECRET-FLIGHT","seats":2,"name":"SECRET-NAME"})";
  const HeaderLines lines = {{"Authorization", "Bearer SECRET-TOKEN"},
                             {"Cookie", "SECRET-COOKIE"},
                             {"Idempotency-Key", "SECRET-CLIENT-KEY"}};
  gateway.upstream.script(commits_and_answers(500, "SECRET-ANSWER", {{"X-A", "SECRET-HEADER"}}));
  EXPECT_EQ(gateway.call_tool("/tools/book?token=SECRET-QUERY", body, lines).status, 500);
  const std::string key = gateway.upstream.last_received().all("Idempotency-Key").at(0);
  const Response unknown = gateway.call_tool("/tools/book?token=SECRET-QUERY", body, lines);
  expect_problem(unknown, "indeterminate");
  EXPECT_EQ(gateway.semel.access_log(2).size(), 2U);
  const std::string shown = gateway.semel.stdout_text() + gateway.semel.stderr_text() +
                            fetch(gateway.semel.metrics_port(), "/metrics").body + unknown.body;
  EXPECT_EQ(shown.find("SECRET"), std::string::npos) << shown.substr(shown.find("SECRET"), 40);
  EXPECT_EQ(shown.find(key.substr(0, 9)), std::string::npos) << "at most 8 digits of a key";
  EXPECT_NE(gateway.semel.stdout_text().find(key.substr(0, 8)), std::string::npos);
}

TEST(Observe, ARefusalIsLoggedWithTheReferenceThatTheClientMayQuote) {
  Gateway gateway;
  gateway.upstream.script(commits_and_hangs());
  const Response refused = gateway.call_tool("/tools/brief");
  expect_problem(refused, "indeterminate");
  const std::vector<Json> lines = gateway.semel.access_log(1);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["reference"].text(), refused.header("Idempotency-Ref"));
  EXPECT_EQ(lines[0]["status"].text(), "409");
}

TEST(Observe, ALineIsStillJsonWhenTheClientSendsWhatNeedsEscapes) {
  Gateway gateway;
  EXPECT_EQ(gateway.call_tool("/files/%22%5B").status, 200);
  static_cast<void>(call_raw(gateway.semel.port(), "G\"ET /\"\\ HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(gateway.call_tool("/files/b", "x", {{"User-Agent", "a\"b\\c\t\xC3\xA9\xFF"}}).status,
            200);
  for (const Json& line : gateway.semel.access_log(2)) {
    EXPECT_EQ(line.kind(), Json::Kind::Object);
  }
}

TEST(Observe, TheAccessLogMayGoToAFile) {
  const TempFolder folder;
  GatewayOptions options;
  options.more = "access_log: {path: \"" + folder.file("access.log") + "\"}\n";
  Gateway gateway(options);
  EXPECT_EQ(gateway.book().status, 200);
  EXPECT_TRUE(eventually([&] { return read_file(folder.file("access.log")).ends_with("}\n"); }));
  EXPECT_EQ(Json::parse(read_file(folder.file("access.log")))["route"].text(), "book");
  EXPECT_TRUE(gateway.semel.access_log().empty());
}

TEST(Observe, MetricsMoveWithWhatHappens) {
  Gateway gateway;
  expect_metric(gateway, "semel_build_info", {}, 1);
  expect_metric(gateway, "semel_store_up", {}, 1);
  EXPECT_EQ(gateway.book().status, 200);
  expect_metric(gateway, "semel_requests_total", {{"route", "book"}}, 1);
  expect_metric(gateway, "semel_duplicates_suppressed_total", {}, 0);
  EXPECT_EQ(gateway.book().status, 200);
  EXPECT_EQ(gateway.book().status, 200);
  expect_metric(gateway, "semel_requests_total", {{"route", "book"}, {"policy", "EFFECTFUL"}}, 3);
  expect_metric(gateway, "semel_duplicates_suppressed_total", {}, 2);
  expect_metric(gateway, "semel_key_source_total", {{"source", "derived"}}, 3);
  expect_metric(gateway, "semel_request_duration_seconds_count", {{"route", "book"}}, 3);
  gateway.upstream.script(commits_and_hangs());
  EXPECT_EQ(gateway.call_tool("/tools/brief").status, 409);
  expect_metric(gateway, "semel_indeterminate_total", {{"reason", "timeout"}}, 1);
  // The call that became unknown was no duplicate; the next one is.
  expect_metric(gateway, "semel_duplicates_suppressed_total", {{"kind", "indeterminate"}}, 0);
  EXPECT_EQ(gateway.call_tool("/tools/brief").status, 409);
  expect_metric(gateway, "semel_duplicates_suppressed_total", {{"kind", "indeterminate"}}, 1);
  gateway.upstream.script(commits_and_sends("", Then::Finish));
  EXPECT_EQ(gateway.call_tool("/tools/brief", kBooking, {{"X-Run-Id", "cut"}}).status, 409);
  expect_metric(gateway, "semel_indeterminate_total", {{"reason", "cut"}}, 1);
  expect_metric(gateway, "semel_indeterminate_total", {}, 2);
  expect_metric(gateway, "semel_upstream_failures_total", {{"end", "unanswered"}}, 2);
  expect_metric(gateway, "semel_store_operation_duration_seconds_count", {{"operation", "claim"}},
                6);
}

TEST(Observe, TheMetricsPageIsTextThatPrometheusReads) {
  Gateway gateway;
  EXPECT_EQ(gateway.book().status, 200);
  const Response page = fetch(gateway.semel.metrics_port(), "/metrics");
  EXPECT_EQ(page.status, 200);
  EXPECT_TRUE(page.header("Content-Type").value_or("").starts_with("text/plain"));
  EXPECT_NE(page.body.find("# TYPE semel_requests_total counter"), std::string::npos);
  EXPECT_FALSE(parse_metrics(page.body).empty());
  EXPECT_EQ(fetch(gateway.semel.metrics_port(), "/nothing").status, 404);
}

}  // namespace
}  // namespace semel::testing
