// Who may come in at the operator's door, and what is told of it afterwards: spec 4 (admin) and 11.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <regex>
#include <sstream>

#include "tests/e2e/operator.h"
#include "tests/e2e/problems.h"
#include "tests/e2e/reloading.h"

namespace semel::testing {
namespace {

std::string slug_of(const Response& response) {
  EXPECT_EQ(response.header("Content-Type"), "application/problem+json");
  return std::to_string(response.status) + " " + problem_slug(response);
}

TEST(AdminDoor, OpensForTheTokenOnly) {
  OperatedGateway operated;
  EXPECT_TRUE(std::regex_match(operated.token(), std::regex("[0-9a-f]{64}"))) << operated.token();
  struct stat what{};
  ASSERT_EQ(::stat(operated.token_file().c_str(), &what), 0);
  EXPECT_EQ(what.st_mode & 0777U, 0600U);
  EXPECT_EQ(operated.ask("GET", "/v1/records").status, 200);
  std::string wrong = operated.token();
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  for (const std::string& value :
       {"Bearer " + wrong, std::string("Bearer "), "Basic " + operated.token()}) {
    const Response refused = operated.ask("GET", "/v1/records", {}, {{"Authorization", value}});
    EXPECT_EQ(slug_of(refused), "401 unauthorized") << value;
    EXPECT_TRUE(refused.header("WWW-Authenticate").value_or("").starts_with("Bearer"));
  }
  const Response without =
      call(operated.port(),
           {"GET", "/v1/records", {{"Host", "127.0.0.1:" + std::to_string(operated.port())}}, {}});
  EXPECT_EQ(slug_of(without), "401 unauthorized");
  const std::string token = operated.token();
  operated.gateway.semel.restart();
  EXPECT_EQ(operated.token(), token) << "scripts may keep it";
  EXPECT_EQ(operated.ask("GET", "/v1/records").status, 200);
}

TEST(AdminDoor, IsClosedToWebPages) {
  OperatedGateway operated;
  const std::string port = std::to_string(operated.port());
  EXPECT_EQ(slug_of(operated.ask("GET", "/v1/records", {}, {{"Host", "evil.example:" + port}})),
            "421 misdirected");
  EXPECT_EQ(operated.ask("GET", "/v1/records", {}, {{"Host", "localhost:" + port}}).status, 200);
  EXPECT_EQ(slug_of(operated.ask("GET", "/v1/records", {}, {{"Origin", "http://localhost"}})),
            "403 foreign-origin");
  const Response preflight =
      operated.ask("OPTIONS", "/v1/records", {},
                   {{"Origin", "https://evil.example"}, {"Access-Control-Request-Method", "POST"}});
  EXPECT_EQ(slug_of(preflight), "403 foreign-origin");
  for (const auto& [name, value] : preflight.headers) {
    EXPECT_FALSE(name.starts_with("Access-Control")) << name << ": " << value;
  }
}

TEST(AdminDoor, BodiesAreJsonAndBounded) {
  OperatedGateway operated;
  const std::string page = "/v1/records/" + std::string(32, '0') + "/resolve";
  EXPECT_EQ(slug_of(operated.ask("POST", page, "decision=happened",
                                 {{"Content-Type", "application/x-www-form-urlencoded"}})),
            "415 content-type");
  EXPECT_EQ(slug_of(operated.ask("POST", page, "{")), "400 bad-request");
  const std::string begin = R"({"decision":"happened","response":{"status":200,"body":")";
  const std::string whole = begin + std::string(2 * 1024 * 1024 - begin.size() - 3, 'x') + "\"}}";
  EXPECT_EQ(slug_of(operated.ask("POST", page, whole)), "409 not-current");
  EXPECT_EQ(slug_of(operated.ask("POST", page, whole + " ")), "413 body-too-large");
  EXPECT_EQ(slug_of(call_raw(operated.port(), "GET /\x01 HTTP/1.1\r\n\r\n")), "400 bad-request");
  EXPECT_EQ(slug_of(call_raw(operated.port(),
                             "GET / HTTP/1.1\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n")),
            "431 headers-too-large");
}

TEST(AdminDoor, ALargeBodyIsAskedForOnlyAfterTheTokenWasSeen) {
  OperatedGateway operated;
  const auto head = [&](const std::string& token) {
    return "POST /v1/records/" + std::string(32, '0') +
           "/resolve HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(operated.port()) +
           "\r\nAuthorization: Bearer " + token +
           "\r\nContent-Type: application/json\r\nContent-Length: 23\r\n"
           "Expect: 100-continue\r\n\r\n";
  };
  HttpClient stranger(operated.port());
  stranger.send(head("guess"));
  const Response refused = stranger.read();
  EXPECT_EQ(slug_of(refused), "401 unauthorized");
  EXPECT_TRUE(refused.interim.empty());
  HttpClient known(operated.port());
  known.send(head(operated.token()));
  ASSERT_TRUE(known.sees("100 Continue"));
  known.send(R"({"decision":"happened"})");
  const Response answer = known.read();
  EXPECT_EQ(slug_of(answer), "409 not-current");
  EXPECT_EQ(answer.interim, std::vector<int>{100});
}

TEST(AdminDoor, ACrowdIsTurnedAwayAndWhoeverComesLaterIsServed) {
  OperatedGateway operated;
  {
    std::vector<std::unique_ptr<HttpClient>> crowd;
    for (int i = 0; i < 64; ++i) crowd.push_back(std::make_unique<HttpClient>(operated.port()));
    HttpClient one_too_many(operated.port());
    EXPECT_TRUE(one_too_many.sees_end());
    const Request request = {"GET",
                             "/v1/records",
                             {{"Host", "127.0.0.1:" + std::to_string(operated.port())},
                              {"Authorization", "Bearer " + operated.token()}},
                             {}};
    EXPECT_EQ(crowd[0]->exchange(request).status, 200);
    EXPECT_EQ(crowd[0]->exchange(request).status, 200) << "on one connection";
    EXPECT_EQ(operated.gateway.book().status, 200) << "clients are not concerned";
  }
  EXPECT_TRUE(eventually([&] { return operated.ask("GET", "/v1/records").status == 200; }));
}

TEST(AdminDoor, TheTokenMayStandInTheConfiguration) {
  GatewayOptions options;
  const std::uint16_t port = free_port();
  options.more = "admin: {address: \"127.0.0.1:" + std::to_string(port) +
                 "\", token: \"${SEMEL_ADMIN_TOKEN}\"}\n";
  options.environment = {"SEMEL_ADMIN_TOKEN=of-the-environment"};
  const Gateway gateway(options);
  const std::string host = "127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(call(port, {"GET",
                        "/v1/records",
                        {{"Host", host}, {"Authorization", "Bearer of-the-environment"}},
                        {}})
                .status,
            200);
  const std::filesystem::path config = gateway.semel.config_file();
  EXPECT_FALSE(std::filesystem::exists(config.parent_path() / "state" / "admin.token"));
}

TEST(AdminDoor, APortThatIsTakenEndsServe) {
  OperatedGateway operated;
  const TempFolder folder;
  write_file(folder.file("semel.yaml"),
             "version: 1\nlisten: {address: \"127.0.0.1:" + std::to_string(free_port()) +
                 "\"}\nadmin: {address: \"127.0.0.1:" + std::to_string(operated.port()) +
                 "\"}\nstate_dir: \"" + folder.file("state") +
                 "\"\nstore: {memory: {allow_volatile: true}}\n"
                 "upstreams: {tool: {endpoints: [\"http://127.0.0.1:9\"]}}\n" +
                 tool_routes());
  const Finished ended = run({semel_binary(), "serve", folder.file("semel.yaml")});
  ASSERT_TRUE(ended.exit);
  EXPECT_EQ(ended.exit->code, 2);
  EXPECT_NE(ended.err.find("admin.address"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find(std::to_string(operated.port())), std::string::npos) << ended.err;
}

TEST(Audit, EveryOrderIsALineWithoutBodiesOrTokens) {
  OperatedGateway operated;
  const std::string reference = operated.make_unknown("/tools/brief");
  EXPECT_EQ(operated
                .resolve(reference, R"({"decision":"did_not_happen","operator":"kim",)"
                                    R"("note":"no trace of it"})")
                .status,
            409);
  EXPECT_EQ(
      operated
          .resolve(reference, R"({"decision":"happened","operator":"lee","response":{"status":201,)"
                              R"("headers":[["X-A","SECRET-HEADER"]],"body":"SECRET-BODY"}})")
          .status,
      200);
  EXPECT_EQ(operated.ask("DELETE", "/v1/tenants/acme/records?operator=kim&note=GDPR").status, 200);
  EXPECT_EQ(operated.ask("GET", "/v1/records").status, 200);  // Looking is no order.
  const std::vector<Json> lines = operated.audit();
  ASSERT_EQ(lines.size(), 3U);
  const auto expect_line = [&](const Json& line, const std::map<std::string, std::string>& said) {
    EXPECT_TRUE(std::regex_match(line["time"].text(),
                                 std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")))
        << line["time"].text();
    for (const auto& [name, value] : said) EXPECT_EQ(line[name].text(), value) << name;
  };
  expect_line(lines[0], {{"action", "resolve"},
                         {"reference", reference},
                         {"decision", "did_not_happen"},
                         {"operator", "kim"},
                         {"note", "no trace of it"},
                         {"result", "attempt_alive"}});
  expect_line(lines[1], {{"action", "resolve"},
                         {"reference", reference},
                         {"decision", "happened"},
                         {"operator", "lee"},
                         {"note", "absent"},
                         {"result", "done"}});
  expect_line(lines[2], {{"action", "forget"},
                         {"tenant", "acme"},
                         {"operator", "kim"},
                         {"note", "GDPR"},
                         {"result", "done"},
                         {"forgotten", "1"}});
  const std::string shown = operated.gateway.semel.stdout_text() +
                            operated.gateway.semel.stderr_text() +
                            fetch(operated.gateway.semel.metrics_port(), "/metrics").body;
  EXPECT_EQ(shown.find("SECRET"), std::string::npos);
  EXPECT_EQ(shown.find(operated.token()), std::string::npos);
  EXPECT_EQ(shown.find("Zoe"), std::string::npos);
}

/// A stopped gateway with a store on the disk and its access log in a file.
struct Stopped {
  explicit Stopped(std::string log_file) : log(std::move(log_file)), gateway(options()) { stop(); }
  [[nodiscard]] GatewayOptions options(const std::string& routes = tool_routes()) const {
    GatewayOptions options{.store = StoreKind::Sqlite};
    options.more = "access_log: {path: \"" + log + "\"}\n";
    options.routes = routes;
    options.environment = {"USER=kim"};
    return options;
  }
  void stop() {
    gateway.semel.sigterm();
    EXPECT_TRUE(gateway.semel.wait());
  }
  [[nodiscard]] std::vector<Json> lines() const {
    std::vector<Json> lines;
    std::istringstream text(read_file(log));
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    return lines;
  }
  std::string log;
  Gateway gateway;
};

TEST(Audit, EachRouteThatAStartAcknowledgesIsALine) {
  const TempFolder folder;
  Stopped stopped(folder.file("access.log"));
  std::string weaker = tool_routes();
  for (const char* route : {"/tools/book}", "/tools/brief}"}) {
    weaker = replaced(weaker, route, std::string(route) + "\n    mode: \"off\"");
  }
  stopped.gateway.rewrite(stopped.options(weaker));
  const Finished refused = stopped.gateway.semel.start_in_vain({"--acknowledge", "book"});
  ASSERT_TRUE(refused.exit);
  EXPECT_EQ(refused.exit->code, 2);
  stopped.gateway.semel.start({"--acknowledge", "book", "--acknowledge", "brief"});
  const std::vector<Json> lines = stopped.lines();
  ASSERT_EQ(lines.size(), 3U);
  const std::pair<const char*, const char*> said[] = {
      {"book", "refused"}, {"book", "done"}, {"brief", "done"}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(lines[i]["kind"].text(), "audit");
    EXPECT_EQ(lines[i]["action"].text(), "start");
    ASSERT_EQ(lines[i]["acknowledged"].items().size(), 1U);
    EXPECT_EQ(lines[i]["acknowledged"].items()[0].text(), said[i].first);
    EXPECT_EQ(lines[i]["result"].text(), said[i].second);
  }
  EXPECT_EQ(lines[2]["operator"].text(), "kim");
}

TEST(Audit, AStoreThatIsAcknowledgedWhileNobodyServesItIsALineToo) {
  const TempFolder folder;
  const Stopped stopped(folder.file("access.log"));
  const Finished word = run({"/usr/bin/env", "USER=lee", semel_binary(), "store", "acknowledge",
                             stopped.gateway.semel.config_file()});
  ASSERT_TRUE(word.exit);
  EXPECT_EQ(word.exit->code, 0) << word.err;
  const std::vector<Json> lines = stopped.lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["kind"].text(), "audit");
  EXPECT_EQ(lines[0]["action"].text(), "acknowledge");
  EXPECT_EQ(lines[0]["result"].text(), "not_suspect");
  EXPECT_EQ(lines[0]["operator"].text(), "lee");
}

TEST(Audit, AWordThatCannotBeWrittenDownIsNotTaken) {
  const TempFolder folder;
  Stopped stopped(folder.file("access.log"));
  stopped.log = folder.file("no such folder/access.log");
  stopped.gateway.rewrite(stopped.options());
  const Finished word =
      run({semel_binary(), "store", "acknowledge", stopped.gateway.semel.config_file()});
  ASSERT_TRUE(word.exit);
  EXPECT_EQ(word.exit->code, 2);
  EXPECT_NE(word.err.find("access_log.path"), std::string::npos) << word.err;
  EXPECT_EQ(word.out, "");
}

TEST(Audit, GoesWhereTheAccessLogGoesAndToStandardErrorWithoutOne) {
  const TempFolder folder;
  GatewayOptions to_file;
  to_file.more = "access_log: {path: \"" + folder.file("access.log") + "\"}\n";
  const OperatedGateway logged(to_file);
  EXPECT_EQ(logged.ask("DELETE", "/v1/tenants/acme/records").status, 200);
  EXPECT_EQ(Json::parse(read_file(folder.file("access.log")))["kind"].text(), "audit");
  GatewayOptions to_nowhere;
  to_nowhere.more = "access_log: off\n";
  const OperatedGateway unlogged(to_nowhere);
  EXPECT_EQ(unlogged.ask("DELETE", "/v1/tenants/acme/records").status, 200);
  EXPECT_NE(unlogged.gateway.semel.stderr_text().find(R"("kind":"audit","action":"forget")"),
            std::string::npos)
      << unlogged.gateway.semel.stderr_text();
}

}  // namespace
}  // namespace semel::testing
