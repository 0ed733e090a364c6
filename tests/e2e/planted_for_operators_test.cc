// Secrets of callers on routes that are only watched or over their quota, and at the admin door.

#include "tests/e2e/planting.h"

namespace semel::testing {
namespace {

class PlantedForOperators : public Planting {
 protected:
  PlantedForOperators()
      : Planting("routes:\n" + guarded("watched", "EFFECTFUL", "    mode: shadow\n") +
                     guarded("brief", "EFFECTFUL", "    timeout: 300ms\n"),
                 "limits: {new_keys_per_tenant: 2}\n") {}

  /// The admin listener's refusal. It may tell an operator's own words to that operator; what it
  /// writes down about them is searched.
  void expect_turned_away(const Response& response, int status) {
    EXPECT_EQ(response.status, status) << response.body;
  }
};

TEST_F(PlantedForOperators, NeitherShadowNorQuotaNorTheAdminDoorTellsThem) {
  Request watched = laden("/tools/watched");
  for (int time = 1; time <= 2; ++time) expect_status(watched, 200);
  watched.body = "{\"" + secrets_.plant() + "\":" + secrets_.plant();
  expect_status(watched, 200);  // No JSON: counted, and passed on.
  gateway_.upstream.script(commits_and_hangs());
  std::vector<std::string> references;
  std::string slug;
  // A minute may end on the way: then two more are let through, once.
  while (slug != "quota" && references.size() < 5) {
    const Response refused = gateway_.call(laden("/tools/brief"));
    slug = problem_slug(refused);
    references.push_back(refused.header("Idempotency-Ref").value_or("none"));
    written_ += refused.body;
  }
  EXPECT_EQ(slug, "quota");

  const std::string record = "/v1/records/" + references[0];
  const Response stranger = ask("GET", "/v1/records", {}, secrets_.plant());
  expect_turned_away(stranger, 401);
  written_ += stranger.body;
  expect_turned_away(ask("GET", "/v1/records/" + secrets_.plant().substr(0, 24)), 404);
  expect_turned_away(ask("GET", "/v1/records?state=" + secrets_.plant().substr(0, 24)), 400);
  expect_turned_away(
      ask("POST", record + "/resolve", R"({"decision":")" + secrets_.plant() + "\"}"), 400);
  expect_turned_away(ask("POST", record + "/resolve", "{\"" + secrets_.plant() + "\":1}"), 400);
  for (const std::string& page : {std::string("/v1/records"), record}) {
    const Response shown = ask("GET", page);
    EXPECT_EQ(shown.status, 200);
    EXPECT_NE(shown.body.find(references[0]), std::string::npos);
    written_ += shown.body;
  }
  // What an operator says that the answer was is stored and replayed, and told in no line.
  Secrets answered;
  const std::string answer = "what-the-operator-saw-in-the-tool";
  answered.plant(answer);
  EXPECT_EQ(
      ask("POST", record + "/resolve",
          R"({"decision":"happened","operator":"kim","response":{"status":201,"headers":[["X-A",")" +
              answer + R"("]],"body":")" + answer + "\"}}")
          .status,
      200);
  EXPECT_EQ(ask("DELETE", "/v1/tenants/nobody/records").status, 200);
  keep_what_was_told();
  EXPECT_EQ(answered.found_in(written_), std::vector<std::string>{});
  keep_what_was_stored();
  EXPECT_FALSE(answered.found_in(written_).empty()) << "the search has read the store's files";
  EXPECT_EQ(secrets_.found_in(written_), std::vector<std::string>{});
  for (const char* told : {"\"kind\":\"audit\"", "semel_shadow_duplicates_total", "kim"}) {
    EXPECT_NE(written_.find(told), std::string::npos) << told;
  }
}

}  // namespace
}  // namespace semel::testing
