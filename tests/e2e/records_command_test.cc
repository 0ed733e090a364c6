// `semel records`, each word against a running proxy: spec 11.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "tests/e2e/operator.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

int code_of(const Finished& finished) { return finished.exit ? finished.exit->code : -1; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(RecordsCommand, ListsAsATableAndAsJson) {
  OperatedGateway operated;
  EXPECT_EQ(operated.gateway.book().status, 200);
  const std::string reference = operated.make_unknown("/tools/brief");
  const Finished table = operated.command({"list", "--state", "indeterminate"});
  EXPECT_EQ(code_of(table), 0) << table.err;
  const std::vector<std::string> lines = lines_of(table.out);
  ASSERT_EQ(lines.size(), 2U) << table.out;
  EXPECT_TRUE(lines[0].starts_with("REFERENCE ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with(reference)) << lines[1];
  for (const char* word : {"indeterminate", "brief", "acme", "timeout"}) {
    EXPECT_NE(lines[1].find(word), std::string::npos) << word << " in " << lines[1];
  }
  const Finished json = operated.command({"list", "--json", "--tenant", "acme"});
  EXPECT_EQ(code_of(json), 0) << json.err;
  EXPECT_EQ(Json::parse(json.out)["records"].items().size(), 2U) << json.out;
  EXPECT_EQ(lines_of(operated.command({"list", "--tenant", "no body"}).out).size(), 1U);
}

TEST(RecordsCommand, ATenantsNameIsNoCommandToATerminal) {
  OperatedGateway operated;
  EXPECT_EQ(operated.gateway
                .book(kBooking, {{"X-Tenant-Id",
                                  "a\xC2\x9B"
                                  "31m\xC3\xA9"}})
                .status,
            200);
  const Finished table = operated.command({"list"});
  EXPECT_NE(table.out.find("a?31m\xC3\xA9"), std::string::npos) << table.out;
}

TEST(RecordsCommand, ShowsOneRecord) {
  OperatedGateway operated;
  const std::string reference = operated.make_unknown("/tools/brief");
  const Finished shown = operated.command({"show", reference});
  EXPECT_EQ(code_of(shown), 0) << shown.err;
  EXPECT_NE(shown.out.find(reference), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("indeterminate"), std::string::npos) << shown.out;
  const Finished json = operated.command({"show", reference, "--json"});
  EXPECT_EQ(Json::parse(json.out)["reference"].text(), reference) << json.out;
  const Finished none = operated.command({"show", std::string(32, '0')});
  EXPECT_EQ(code_of(none), 1);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("No record has this reference"), std::string::npos) << none.err;
}

TEST(RecordsCommand, ResolvesWithTheAnswerOfAFile) {
  OperatedGateway operated;
  const TempFolder folder;
  write_file(folder.file("response.json"),
             R"({"status": 201, "headers": [["X-Seat", "1A"]], "body": "caf\u00e9"})");
  const std::string reference = operated.make_unknown("/tools/brief");
  const Finished resolved =
      operated.command({"resolve", reference, "happened", "--response",
                        folder.file("response.json"), "--note", "seen", "--operator", "kim"});
  EXPECT_EQ(code_of(resolved), 0) << resolved.err;
  EXPECT_NE(resolved.out.find("completed"), std::string::npos) << resolved.out;
  const Response replay = operated.gateway.call_tool("/tools/brief");
  EXPECT_EQ(replay.status, 201);
  EXPECT_EQ(replay.body, "caf\xC3\xA9");
  EXPECT_EQ(replay.header("X-Seat"), "1A");
  ASSERT_EQ(operated.audit().size(), 1U);
  EXPECT_EQ(operated.audit()[0]["operator"].text(), "kim");
  EXPECT_EQ(operated.audit()[0]["note"].text(), "seen");
  const Finished again = operated.command({"resolve", reference, "happened"});
  EXPECT_EQ(code_of(again), 1);
  EXPECT_NE(again.err.find("nothing to resolve"), std::string::npos) << again.err;
}

TEST(RecordsCommand, SetsFreeWhatDidNotHappen) {
  OperatedGateway operated;
  const std::string alive = operated.make_unknown("/tools/brief");
  const Finished refused = operated.command({"resolve", alive, "did_not_happen"});
  EXPECT_EQ(code_of(refused), 1);
  EXPECT_NE(refused.err.find("may still take effect"), std::string::npos) << refused.err;
  // At most the lease: 3 s to dispatch, 0.7 s to the head and again to the last byte, 60 s to
  // settle and 2 s of margin.
  std::smatch seconds;
  ASSERT_TRUE(std::regex_search(refused.err, seconds, std::regex(R"(\(Retry-After: (\d+) s\))")))
      << refused.err;
  EXPECT_LE(std::stoi(seconds[1]), 67);
  EXPECT_GE(std::stoi(seconds[1]), 1);
  const std::string reference = operated.make_unknown("/tools/quick");
  Finished freed;
  ASSERT_TRUE(eventually([&] {
    freed = operated.command({"resolve", reference, "did_not_happen"});
    return code_of(freed) == 0;
  })) << freed.err;
  operated.gateway.upstream.script(commits_and_answers(200, "{}"));
  EXPECT_EQ(operated.gateway.call_tool("/tools/quick").header("Idempotency-Status"), "executed");
}

TEST(RecordsCommand, ForgetsATenant) {
  OperatedGateway operated;
  const HeaderLines theirs = {{"X-Tenant-Id", "a/b c"}};
  EXPECT_EQ(operated.gateway.book(kBooking, theirs).status, 200);
  const Finished forgotten = run({"/usr/bin/env", "USER=kim", semel_binary(), "records", "forget",
                                  "a/b c", "--config", operated.gateway.semel.config_file()});
  EXPECT_EQ(code_of(forgotten), 0) << forgotten.err;
  EXPECT_NE(forgotten.out.find("forgotten"), std::string::npos) << forgotten.out;
  EXPECT_NE(forgotten.out.find("1"), std::string::npos) << forgotten.out;
  ASSERT_EQ(operated.audit().size(), 1U);
  EXPECT_EQ(operated.audit()[0]["operator"].text(), "kim") << "who is at the keyboard";
  EXPECT_EQ(operated.gateway.book(kBooking, theirs).header("Idempotency-Status"), "executed");
}

TEST(RecordsCommand, EndsWithTwoWhereNobodyIsReached) {
  OperatedGateway operated;
  operated.gateway.semel.sigterm();
  ASSERT_TRUE(operated.gateway.semel.wait());
  const Finished gone = operated.command({"list"});
  EXPECT_EQ(code_of(gone), 2);
  EXPECT_NE(gone.err.find(std::to_string(operated.port())), std::string::npos) << gone.err;
  const Gateway without;
  const Finished none =
      run({semel_binary(), "records", "list", "--config", without.semel.config_file()});
  EXPECT_EQ(code_of(none), 2);
  EXPECT_NE(none.err.find("admin:"), std::string::npos) << none.err;
  EXPECT_EQ(code_of(run({semel_binary(), "records", "list"})), 2);
  EXPECT_EQ(code_of(run({semel_binary(), "records", "lst", "--config", "x"})), 2);
}

TEST(RecordsCommand, AResponseThatIsNoJsonIsNotSent) {
  OperatedGateway operated;
  const TempFolder folder;
  write_file(folder.file("response.json"), R"({"status": 201)");
  const std::string reference = operated.make_unknown("/tools/brief");
  const Finished refused = operated.command(
      {"resolve", reference, "happened", "--response", folder.file("response.json")});
  EXPECT_EQ(code_of(refused), 2);
  EXPECT_NE(refused.err.find("response.json"), std::string::npos) << refused.err;
  EXPECT_TRUE(operated.audit().empty());
}

}  // namespace
}  // namespace semel::testing
