#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "proxy/cli_check.h"
#include "proxy/cli_explain.h"
#include "proxy/curl_request.h"
#include "tests/support/json.h"
#include "tests/support/temp_folder.h"

namespace semel::proxy {
namespace {

using semel::testing::Json;
using semel::testing::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr const char* kConfiguration = R"(version: 1
listen: {address: "127.0.0.1:0"}
store: {sqlite: {path: ./semel.db}}
upstreams:
  flights: {endpoints: ["http://127.0.0.1:9000"]}
routes:
  - name: book
    match: {methods: [POST], path: /tools/book}
    upstream: flights
    policy: EFFECTFUL
    key:
      tenant: {header: X-Tenant-Id}
      run: {header: X-Run-Id}
      fields: [/flight]
    request: {max_body: 64B}
  - name: charge
    match: {methods: [POST], path: "/accounts/{id}/charge"}
    upstream: flights
    policy: IDEMPOTENT
    key: {tenant: {constant: acme}, run: none, guards: [/amount]}
  - name: fare
    match: {methods: [POST], path: /tools/fare}
    upstream: flights
    policy: READ_ONLY
  - name: page
    match: {path: /pages/*}
    upstream: flights
)";

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

class Cli : public ::testing::Test {
 protected:
  Cli() { semel::testing::write_file(config_, kConfiguration); }

  using Command = int (*)(std::span<const std::string>, std::ostream&, std::ostream&);
  [[nodiscard]] static Outcome run(Command command, const std::vector<std::string>& args) {
    std::ostringstream out;
    std::ostringstream err;
    const int exit_code = command(args, out, err);
    return {exit_code, out.str(), err.str()};
  }
  [[nodiscard]] Outcome explain(std::vector<std::string> args) const {
    args.insert(args.begin(), config_);
    return run(run_explain, args);
  }
  /// A call on `book` that has a key, and `more`.
  [[nodiscard]] Outcome explain_book(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"-X",
                                     "POST",
                                     "/tools/book",
                                     "-H",
                                     "X-Tenant-Id: acme",
                                     "-H",
                                     "X-Run-Id: run-7",
                                     "-H",
                                     "Content-Type: application/json"};
    args.insert(args.end(), more.begin(), more.end());
    return explain(args);
  }

  TempFolder folder_;
  std::string config_ = folder_.file("semel.yaml");
};

/// The published vector `one named field`, made by another program.
Json published_vector() {
  std::ifstream stream(SEMEL_SOURCE_DIR "/tests/core/key_vectors.jsonl");
  for (std::string line; std::getline(stream, line);) {
    Json vector = Json::parse(line);
    if (vector["name"].text() == "one named field") return vector;
  }
  ADD_FAILURE() << "the vector is gone";
  return {};
}

TEST_F(Cli, CheckSaysEveryRouteInWords) {
  const Outcome outcome = run(run_check, {config_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("route book: POST /tools/book -> flights\n"));
  EXPECT_THAT(outcome.out, HasSubstr("EFFECTFUL\n"));
  EXPECT_THAT(outcome.out, HasSubstr("125s\n"));
  EXPECT_THAT(outcome.out, HasSubstr("24h\n"));
  EXPECT_THAT(
      outcome.out,
      HasSubstr("tenant (header X-Tenant-Id) + operation book + method + concrete path + run "
                "(header X-Run-Id) + body /flight\n"));
  EXPECT_THAT(outcome.out, HasSubstr("route page: any method /pages/* -> flights\n"));
  EXPECT_THAT(outcome.out, HasSubstr("none: plain proxying\n"));
}

TEST_F(Cli, CheckSaysHowLongAnUnknownOutcomeIsKept) {
  const Outcome outcome = run(run_check, {config_});
  EXPECT_THAT(outcome.out, HasSubstr("  indeterminate   never forgotten\n")) << "book, EFFECTFUL";
  EXPECT_THAT(outcome.out, HasSubstr("  indeterminate   10m\n")) << "charge, IDEMPOTENT";
}

TEST_F(Cli, CheckSaysWhichStatusesFreeTheKeyAndWhichLeaveItUnknown) {
  const Outcome outcome = run(run_check, {config_});
  EXPECT_THAT(outcome.out, HasSubstr("  frees the key   400, 401, 403-405, 407, 411, 413-415, "
                                     "421, 422, 425, 426, 428, 429, 431\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  unknown after   408, 500-599\n"));
}

TEST_F(Cli, CheckWarnsOfWhatServeRefuses) {
  semel::testing::write_file(
      config_,
      "version: 1\nlisten: {address: \"127.0.0.1:0\", proxy_protocol: true}\n"
      "store: {sqlite: {path: ./semel.db}}\n"
      "upstreams: {u: {endpoints: [\"https://127.0.0.1:1\"]}}\n"
      "routes: [{name: ws, match: {path: /ws}, upstream: u, upgrade: true}]\n");
  const Outcome outcome = run(run_check, {config_});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* what :
       {"listen.proxy_protocol", "https:// of upstream u", "upgrade of route ws"}) {
    EXPECT_THAT(outcome.out, HasSubstr("warning: " + config_ + ": " + what +
                                       " is not part of this version: serve refuses it\n"));
  }
}

TEST_F(Cli, CheckSaysAloudThatEqualCallsAreOne) {
  const Outcome outcome = run(run_check, {config_});
  EXPECT_THAT(outcome.out, HasSubstr("warning: " + config_ +
                                     ":20:42: route charge: run: none: equal calls of one tenant "
                                     "within 10m are ONE call\n"));
}

TEST_F(Cli, CheckOfAWrongConfigurationIsExitTwo) {
  semel::testing::write_file(config_, "version: 1\nlisten: {adress: \"h:1\"}\n");
  const Outcome outcome = run(run_check, {config_});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(config_ + ":1:1: the key \"store\" is missing"));
}

TEST_F(Cli, CheckWithoutItsOneArgumentIsExitTwo) {
  EXPECT_EQ(run(run_check, {}).exit_code, 2);
  EXPECT_EQ(run(run_check, {config_, config_}).exit_code, 2);
  EXPECT_EQ(run(run_check, {"--help"}).exit_code, 2);
  EXPECT_EQ(run(run_check, {folder_.file("absent.yaml")}).exit_code, 2);
}

TEST_F(Cli, ExplainPrintsThePublishedKey) {
  const Json vector = published_vector();
  const Outcome outcome = explain_book({"-d", R"({"flight":"BA117"})"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr(vector["key"].text()));
  EXPECT_THAT(outcome.out, HasSubstr(vector["canonical"].text()));
  EXPECT_THAT(outcome.out, HasSubstr("body /flight = \"BA117\"\n"));
}

TEST_F(Cli, ExplainJsonHasTheSpecifiedMembers) {
  const Json vector = published_vector();
  const Outcome outcome = explain_book({"--json", "-d", R"({"flight":"BA117","trace":1})"});
  EXPECT_EQ(outcome.exit_code, 0);
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["route"].text(), "book");
  EXPECT_EQ(json["policy"].text(), "EFFECTFUL");
  EXPECT_EQ(json["tenant"].text(), "acme");
  EXPECT_EQ(json["run"].text(), "run-7");
  EXPECT_EQ(json["operation"].text(), "book");
  EXPECT_EQ(json["method"].text(), "POST");
  ASSERT_EQ(json["path"].items().size(), 2u);
  EXPECT_EQ(json["path"].items()[1].text(), "book");
  EXPECT_EQ(json["arguments"]["body /flight"].text(), "\"BA117\"");
  EXPECT_EQ(json["canonical"].text(), vector["canonical"].text());
  EXPECT_EQ(json["key"].text(), vector["key"].text());
  EXPECT_TRUE(json["refusal"].is_absent());
}

TEST_F(Cli, ARequestWithoutKeyIsExitThreeAndSaysWhy) {
  const Outcome outcome = explain_book({"--json", "-d", "{}"});
  EXPECT_EQ(outcome.exit_code, 3);
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["route"].text(), "book");
  EXPECT_EQ(json["refusal"]["status"].text(), "400");
  EXPECT_EQ(json["refusal"]["type"].text(), "key-underivable");
  EXPECT_THAT(json["refusal"]["detail"].text(), HasSubstr("/flight"));
  EXPECT_TRUE(json["key"].is_absent());
  EXPECT_THAT(explain_book({"-d", "{}"}).out, HasSubstr("400 key-underivable: "));
}

TEST_F(Cli, EveryRefusalOnTheWayToTheKeyIsExitThree) {
  struct Row {
    const char* name;
    std::vector<std::string> args;
    const char* type;
  };
  for (const Row& row : {
           Row{"no route", {"/nowhere"}, "404 no-route"},
           Row{"no such method", {"-X", "PUT", "/tools/book"}, "405 method"},
           Row{"path with dots", {"-X", "POST", "/tools/../book"}, "400 "},
           Row{"not a path at all", {"-X", "POST", "/tools/bo ok"}, "400 "},
           Row{"body too large",
               {"/tools/book", "-d", "{\"flight\": \"" + std::string(80, 'x') + "\"}"},
               "413 body-too-large"},
           Row{"tenant twice",
               {"/tools/book", "-H", "X-Tenant-Id: a", "-H", "X-Tenant-Id: b", "-d", "{}"},
               "400 "},
       }) {
    const Outcome outcome = explain(row.args);
    EXPECT_EQ(outcome.exit_code, 3) << row.name;
    EXPECT_THAT(outcome.out, HasSubstr(row.type)) << row.name;
  }
}

TEST_F(Cli, ARouteThatClaimsNothingHasNoKeyAndThatIsNoRefusal) {
  for (const char* target : {"/tools/fare", "/pages/1"}) {
    const Outcome outcome = explain({"-X", "POST", target});
    EXPECT_EQ(outcome.exit_code, 0) << target;
    EXPECT_THAT(outcome.out, HasSubstr("no key: nothing is claimed")) << target;
  }
  EXPECT_THAT(explain({"-X", "OPTIONS", "/tools/book"}).out, HasSubstr("no key"));
}

TEST_F(Cli, AWrongCommandLineOrConfigurationIsExitTwo) {
  EXPECT_EQ(run(run_explain, {}).exit_code, 2);
  EXPECT_EQ(run(run_explain, {config_}).exit_code, 2);
  EXPECT_EQ(run(run_explain, {folder_.file("absent.yaml"), "/a"}).exit_code, 2);
  EXPECT_EQ(explain({"/a", "/b"}).exit_code, 2);
  EXPECT_EQ(explain({"/a", "--form"}).exit_code, 2);
  EXPECT_EQ(explain({"/a", "-sF"}).exit_code, 2);
  EXPECT_EQ(explain({"/a", "-H"}).exit_code, 2);
  EXPECT_EQ(explain({"/a", "-H", "no header"}).exit_code, 2);
  EXPECT_EQ(explain({"/a", "-d", "@" + folder_.file("absent")}).exit_code, 2);
}

TEST_F(Cli, SwitchesOfCurlThatChangeNoRequestAreTaken) {
  for (const std::vector<std::string>& switches :
       {std::vector<std::string>{"-s"}, {"-sS", "-i"}, {"-v", "--silent", "--fail"}, {"-sSfk"}}) {
    std::vector<std::string> args = switches;
    args.insert(args.end(), {"-d", R"({"flight":"BA117"})"});
    const Outcome outcome = explain_book(args);
    EXPECT_EQ(outcome.exit_code, 0) << switches[0] << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(published_vector()["key"].text()));
  }
}

TEST_F(Cli, AJsonBodyWithoutContentTypeIsTakenForJsonAndThatIsSaid) {
  const Outcome outcome = explain({"/tools/book", "-H", "X-Tenant-Id: acme", "-H",
                                   "X-Run-Id: run-7", "-d", R"({"flight":"BA117"})"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("explained as application/json"));
  EXPECT_THAT(outcome.out, HasSubstr(published_vector()["key"].text()));
}

CurlRequest parse(std::vector<std::string> args) {
  args.insert(args.begin(), "semel.yaml");
  auto parsed = parse_explain_options(args);
  if (const auto* sentence = std::get_if<std::string>(&parsed)) {
    ADD_FAILURE() << *sentence;
    return {};
  }
  return std::get<ExplainOptions>(std::move(parsed)).request;
}

TEST(CurlRequest, OptionsMeanWhatTheyMeanToCurl) {
  const CurlRequest request = parse({"-XPUT", "--header", "A:  b ", "-HC;", "-d", "x=1",
                                     "--data-raw", "@y", "https://api.example:8443/p/q?r=s#t"});
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target, "/p/q?r=s");
  EXPECT_EQ(request.host, "api.example:8443");
  EXPECT_EQ(request.body, "x=1&@y");
  EXPECT_THAT(request.headers,
              ElementsAre(Pair("A", "b"), Pair("C", ""),
                          Pair("Content-Type", "application/x-www-form-urlencoded")));
}

TEST(CurlRequest, TheMethodFollowsTheBody) {
  EXPECT_EQ(parse({"/a"}).method, "GET");
  EXPECT_EQ(parse({"/a", "-d", ""}).method, "POST");
  EXPECT_EQ(parse({"/a", "-d", "x", "--request", "PATCH"}).method, "PATCH");
  EXPECT_EQ(parse({"http://h"}).target, "/");
  EXPECT_EQ(parse({"http://h?a=1"}).target, "/?a=1");
}

TEST(CurlRequest, AFileLosesItsLineEndsOnlyUnderData) {
  const TempFolder folder;
  const std::string file = folder.file("body");
  semel::testing::write_file(file, "{\"a\":\r\n 1}\n");
  EXPECT_EQ(parse({"/a", "-d", "@" + file}).body, "{\"a\": 1}");
  EXPECT_EQ(parse({"/a", "--data-binary", "@" + file}).body, "{\"a\":\r\n 1}\n");
  EXPECT_EQ(parse({"/a", "--data-raw", "@" + file}).body, "@" + file);
}

TEST(CurlRequest, AHeaderWithoutValueTakesTheDefaultAway) {
  EXPECT_THAT(parse({"/a", "-d", "x", "-H", "Content-Type:"}).headers, ::testing::IsEmpty());
}

TEST(CurlRequest, TheHeadIsWhatGoesOverTheWire) {
  EXPECT_EQ(
      parse({"/a", "-H", "Host: h", "-H", "B: c", "-H", "Content-Type: t/u", "-d", "xy"}).head(),
      "POST /a HTTP/1.1\r\nHost: h\r\nB: c\r\nContent-Type: t/u\r\nContent-Length: 2\r\n\r\n");
}

}  // namespace
}  // namespace semel::proxy
