// Three hundred secrets in everything that a caller may choose, through every outcome; none of them
// may stand in a log, a metric, a refusal or the store's files, in whatever spelling
// (guarantee 6.5).

#include "tests/e2e/planting.h"
#include "tests/support/redis_server.h"

namespace semel::testing {
namespace {

std::string routes() {
  return "routes:\n" + guarded("book", "EFFECTFUL", "    timeout: 300ms\n    wait: 10s\n") +
         guarded("hasty", "EFFECTFUL", "    on_duplicate: reject\n") +
         guarded("bare", "EFFECTFUL", "    record: {body: false}\n") +
         guarded("seat", "IDEMPOTENT", "    timeout: 300ms\n    retry: off\n") + R"(
  - name: pay
    match: {methods: [POST], path: "/accounts/{account}/pay"}
    upstream: tool
    policy: EFFECTFUL
    key: {tenant: {header: X-Tenant-Id}, caller: {header: X-Caller}}
    client_key: required
  - name: fare
    match: {methods: [POST], path: /tools/fare}
    upstream: tool
    policy: READ_ONLY
    timeout: 300ms
    retry: off
  - name: plain
    match: {path: /files/*}
    upstream: tool
)";
}

class PlantedSecrets : public Planting {
 protected:
  PlantedSecrets() : Planting(routes(), "limits: {body_timeout: 300ms, followers_per_key: 1}\n") {}

  void be_answered();
  void meet_in_flight();
  void be_refused_before_a_claim();
  void be_no_http();
  void lose_the_tool();
  void lose_the_store();
  void be_drained();
};

void PlantedSecrets::be_answered() {
  const Request book = laden("/tools/book");
  expect_status(book, 200);
  EXPECT_EQ(gateway_.call(book).header("Idempotency-Status"), "replayed");
  expect_refused(with(book, "X-Caller", secrets_.plant()), "caller-mismatch");
  Request dearer = book;
  dearer.body.replace(dearer.body.find(R"("amount":")"), 10, R"("amount":")" + secrets_.plant());
  expect_refused(dearer, "key-reused");
  const Request pay = laden("/accounts/" + secrets_.plant().substr(0, 24) + "/pay");
  expect_status(pay, 200);
  EXPECT_EQ(gateway_.call(pay).header("Idempotency-Status"), "replayed");
  Request other = pay;
  other.body = R"({"note":")" + secrets_.plant() + "\"}";
  expect_refused(other, "key-reused");
  const Request bare = laden("/tools/bare");
  expect_status(bare, 200);
  expect_refused(bare, "result-not-kept");
  gateway_.upstream.script(answers(422, "{}"));
  expect_status(laden("/tools/book"), 422);
  gateway_.upstream.script(commits_and_answers(500, "{}"));
  const Request failed = laden("/tools/book");
  expect_status(failed, 500);
  expect_refused(failed, "indeterminate");
  gateway_.upstream.script(commits_and_answers(200, "{}"));
  expect_status(laden("/tools/fare"), 200);
  expect_status(laden("/files/" + secrets_.plant().substr(0, 24)), 200);
}

void PlantedSecrets::meet_in_flight() {
  gateway_.upstream.script([](Turn& turn) {
    turn.commit();
    turn.wait_for_step(1);
    turn.send(response_text(200, "{}"));
  });
  const int before = gateway_.upstream.requests();
  const Request hasty = laden("/tools/hasty");
  std::future<Response> first = gateway_.begin(hasty);
  ASSERT_TRUE(gateway_.upstream.sees_requests(before + 1));
  expect_refused(hasty, "in-flight");
  gateway_.upstream.step();
  EXPECT_EQ(first.get().status, 200);
  gateway_.upstream.script([](Turn& turn) { turn.hang(); });
  const Request silent = laden("/tools/book");
  std::vector<std::future<Response>> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(gateway_.begin(silent));
  for (std::future<Response>& pending : calls) {
    const Response refused = pending.get();
    const std::string slug = problem_slug(refused);
    EXPECT_TRUE(slug == "indeterminate" || slug == "too-many-waiters") << slug;
    written_ += refused.body;
  }
  gateway_.upstream.script(commits_and_answers(200, "{}"));
}

void PlantedSecrets::be_refused_before_a_claim() {
  const auto book = [this] { return laden("/tools/book"); };
  const auto with_body = [this](const std::string& body) {
    Request request = laden("/tools/book");
    request.body = body;
    return request;
  };
  const auto text = [this] { return "\"" + secrets_.plant() + "\""; };
  expect_refused(without(laden("/accounts/1/pay"), "Idempotency-Key"), "key-missing");
  expect_refused(with(laden("/accounts/1/pay"), "Idempotency-Key", secrets_.plant() + " x"),
                 "key-malformed");
  expect_refused(without(book(), "X-Run-Id"), "key-underivable");
  expect_refused(with_body(R"({"flight":)" + text() + "}"), "key-underivable");
  const std::string name = text();
  expect_refused(with_body("{" + name + ":" + text() + "," + name + ":" + text() + "}"),
                 "body-ambiguous");
  expect_refused(with_body("{" + text() + ":" + text() + "} " + text()), "body-ambiguous");
  expect_refused(with_body(text() + text()), "body-ambiguous");
  expect_refused(laden("/tools/BOOK"), "no-route");
  expect_refused(laden("/" + secrets_.plant().substr(0, 24)), "no-route");
  Request put = book();
  put.method = "PUT";
  expect_refused(put, "method");
  expect_refused(with(book(), "Content-Type", "text/" + secrets_.plant().substr(0, 24)),
                 "content-type");
  expect_refused(with_body("\"" + secrets_.plant() + std::string(1'100'000, 'x') + "\""),
                 "body-too-large");
  expect_refused(with(book(), "Expect", secrets_.plant()), "expectation-failed");
  HttpClient slow(gateway_.semel.port());
  slow.send(with(book(), "Content-Length", "5000"));
  expect_refused(slow.read(), "request-timeout");
}

void PlantedSecrets::be_no_http() {
  const auto raw = [this](const std::string& start_line, const std::string& lines) {
    Request request = laden("/tools/book");
    const std::string text = text_of(request);
    return call_raw(gateway_.semel.port(),
                    start_line + "\r\n" + lines + text.substr(text.find("\r\n") + 2));
  };
  const std::string line = "POST /tools/book HTTP/1.1";
  for (const std::string& lines :
       {"X-A: 1\r\n " + secrets_.plant() + "\r\n", secrets_.plant() + "\r\n",
        secrets_.plant().substr(0, 24) + " : 1\r\n", "X-Run-Id: " + secrets_.plant() + "\r\n",
        "X_Run_Id: " + secrets_.plant() + "\r\n", "Content-Length: " + secrets_.plant() + "\r\n"}) {
    SCOPED_TRACE(lines);
    expect_refused(raw(line, lines), "bad-request");
  }
  expect_refused(raw("POST /tools//" + secrets_.plant().substr(0, 24) + " HTTP/1.1", {}),
                 "path-ambiguous");
  expect_refused(raw("POST /" + secrets_.plant() + std::string(9'000, 'x') + " HTTP/1.1", {}),
                 "uri-too-long");
  expect_refused(raw(line, "X-A: " + secrets_.plant() + std::string(9'000, 'x') + "\r\n"),
                 "headers-too-large");
  expect_refused(raw("POST /tools/book HTTP/2.0", {}), "http-version");
  expect_refused(raw(line, "Transfer-Encoding: " + secrets_.plant() + "\r\n"), "bad-request");
}

void PlantedSecrets::lose_the_tool() {
  gateway_.upstream.script(commits_and_sends("", Then::Reset));
  const Request reset = laden("/tools/book");
  expect_refused(reset, "indeterminate");
  expect_refused(reset, "indeterminate");
  gateway_.upstream.script(commits_and_hangs());
  expect_refused(laden("/tools/seat"), "upstream-timeout");
  expect_refused(laden("/tools/fare"), "upstream-timeout");
  gateway_.upstream.refuse();
  expect_refused(laden("/tools/hasty"), "upstream-unreachable");
  gateway_.upstream.listen_again();
}

void PlantedSecrets::lose_the_store() {
  disk_.fail("pwrite ENOSPC\n");
  expect_refused(laden("/tools/book"), "store-unavailable");
  disk_.heal();
  EXPECT_TRUE(eventually([this] { return gateway_.semel.metric("semel_store_up") == 1; }));
  gateway_.upstream.script([this](Turn& turn) {
    turn.commit();
    disk_.fail("fdatasync EIO\nfsync EIO\n");
    turn.send(response_text(200, "{}"));
  });
  EXPECT_EQ(gateway_.call(laden("/tools/hasty")).header("Idempotency-Status"), "unrecorded");
  keep_what_was_told();
  keep_what_was_stored();
  gateway_.semel.kill9();
  keep_what_was_stored();
  disk_.heal();
  gateway_.semel.start();
  gateway_.upstream.script(commits_and_answers(200, "{}"));
}

void PlantedSecrets::be_drained() {
  HttpClient old(gateway_.semel.port());
  EXPECT_EQ(old.exchange(laden("/files/a")).status, 200);
  gateway_.upstream.script(commits_and_answers_when_let_go(200, "{}"));
  const int before = gateway_.upstream.requests();
  std::future<Response> flying = gateway_.begin(laden("/tools/hasty"));
  ASSERT_TRUE(gateway_.upstream.sees_requests(before + 1));
  gateway_.semel.sigterm();
  ASSERT_TRUE(eventually(
      [this] { return !HttpClient(gateway_.semel.port(), milliseconds{500}).is_connected(); }));
  written_ += old.exchange(laden("/tools/book")).body;  // Refused, or cut.
  written_ += fetch(gateway_.semel.metrics_port(), "/metrics").body;
  gateway_.upstream.let_go();
  EXPECT_EQ(flying.get().status, 200);
  ASSERT_TRUE(gateway_.semel.wait());
  written_ += gateway_.semel.stdout_text() + gateway_.semel.stderr_text();
  keep_what_was_stored();
}

TEST_F(PlantedSecrets, ThreeHundredOfThemLeaveNoTraceThroughAllOutcomes) {
  be_answered();
  meet_in_flight();
  be_refused_before_a_claim();
  be_no_http();
  lose_the_tool();
  lose_the_store();
  be_drained();
  EXPECT_GE(secrets_.count(), 300U);
  EXPECT_EQ(secrets_.found_in(written_), std::vector<std::string>{});
  // What is kept in clear by design is there, so the search has read the right texts.
  for (const char* told : {"acme", "semel_requests_total", "\"route\":\"hasty\"", "SQLite format 3",
                           "/problems/key-reused", "listening on"}) {
    EXPECT_NE(written_.find(told), std::string::npos) << told;
  }
}

TEST(PlantedTokens, OfAConfigurationAreNotPrintedByItsCheckNorByItsErrors) {
  Secrets secrets;
  const TempFolder folder;
  const std::string sound =
      "version: 1\nlisten: {address: \"127.0.0.1:0\"}\nstate_dir: \"" + folder.file("state") +
      "\"\nadmin: {address: \"127.0.0.1:0\", token: \"" + secrets.plant() + "\"}\n";
  const std::string tool = "upstreams:\n  tool: {endpoints: [\"http://127.0.0.1:1\"]}\n";
  const std::string route = "routes:\n  - {name: a, match: {path: /a}, upstream: tool}\n";
  const std::string memory = "store: {memory: {}}\n";
  const std::string files[] = {
      sound + memory + tool + route,
      sound + memory + tool + route + "workres: 2\n",
      sound + "store:\n  redis: {url: \"redis://:" + secrets.plant() + "@127.0.0.1:6379\"}\n" +
          tool + route,
      sound + "store:\n  postgres: {url: \"postgres://me:" + secrets.plant() +
          "@127.0.0.1/semel\"}\n" + tool + route,
      sound + memory + "upstreams:\n  tool: {endpoints: [\"http://me:" +
          secrets.plant().substr(0, 24) + "@127.0.0.1:1\"]}\n" + route,
  };
  std::string printed;
  for (const std::string& yaml : files) {
    write_file(folder.file("semel.yaml"), yaml);
    for (const char* command : {"check", "serve"}) {
      if (&yaml == files && std::string_view(command) == "serve") continue;  // It would serve.
      const Finished finished = run({semel_binary(), command, folder.file("semel.yaml")});
      ASSERT_TRUE(finished.exit) << command << " does not end:\n" << yaml;
      printed += finished.out + finished.err;
    }
  }
  EXPECT_EQ(secrets.found_in(printed), std::vector<std::string>{}) << printed;
  EXPECT_NE(printed.find("workres"), std::string::npos) << "errors were printed";
}

TEST(PlantedTokens, OfAStoreThatQuotesThemAreNotPrinted) {
  if (!RedisServer::is_installed()) GTEST_SKIP() << "redis-server is not installed";
  RedisSetup setup;
  setup.settings = {"rename-command AUTH \"\""};
  const RedisServer server(setup);
  Secrets secrets;
  const TempFolder folder;
  write_file(folder.file("semel.yaml"),
             "version: 1\nlisten: {address: \"127.0.0.1:0\"}\nstate_dir: \"" +
                 folder.file("state") + "\"\nstore:\n  redis: {url: \"redis://me:" +
                 percent_encoded(secrets.plant()) + "@127.0.0.1:" + std::to_string(server.port()) +
                 "\"}\nupstreams:\n  tool: {endpoints: [\"http://127.0.0.1:1\"]}\n"
                 "routes:\n  - {name: a, match: {path: /a}, upstream: tool}\n");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"serve"}, {"store", "init"}, {"store", "acknowledge"}}) {
    std::vector<std::string> command{semel_binary()};
    command.insert(command.end(), words.begin(), words.end());
    command.push_back(folder.file("semel.yaml"));
    const Finished finished = run(command);
    ASSERT_TRUE(finished.exit) << words.back() << " does not end";
    const std::string printed = finished.out + finished.err;
    EXPECT_NE(printed.find("does not let us in"), std::string::npos) << printed;
    EXPECT_EQ(secrets.found_in(printed), std::vector<std::string>{}) << printed;
  }
}

}  // namespace
}  // namespace semel::testing
