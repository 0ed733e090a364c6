// Reported cases of what makes two calls one: keys, fingerprints, canonical forms and tenants.
// docs/reported-cases.md tells each in a line.

#include "tests/e2e/cases.h"

namespace semel::testing {
namespace {

/// Answers 201 with the number of the call, so that two executions differ.
Script commits_and_counts() {
  return [](Turn& turn) {
    turn.commit();
    turn.send(response_text(201, R"({"call":)" + std::to_string(turn.number()) + "}"));
  };
}

/// Expects that the second call was the first one again, or that both ran.
void expect_two_calls(Gateway& gateway, const Request& one, const Request& other, bool are_one) {
  gateway.upstream.script(commits_and_counts());
  const Response first = gateway.call(one);
  expect_executed(first, 201);
  const Response second = gateway.call(other);
  if (are_one) {
    expect_same_answer(second, first);
  } else {
    expect_executed(second, 201);
  }
  EXPECT_EQ(gateway.upstream.effects(), are_one ? 1 : 2);
}

TEST(ReportedCases, FPR_01_AnotherQueryUnderOneKeyIsAnotherPayload) {
  Gateway gateway(one_route({}));
  expect_executed(gateway.call(keyed_call("fpr-01", "{}", "/calls?to=alice")), 200);
  expect_problem(gateway.call(keyed_call("fpr-01", "{}", "/calls?to=mallory")), "key-reused");
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(ReportedCases, FPR_03_AnotherPayloadUnderAKeyInFlightIsToldSoAtOnce) {
  CaseRoute route;
  route.more = "    wait: 10s\n";
  Gateway gateway(one_route(route));
  gateway.upstream.script(commits_and_answers_when_let_go(201, R"({"id":1})"));
  std::future<Response> first = gateway.begin(keyed_call("fpr-03", R"({"n":1})"));
  ASSERT_TRUE(gateway.upstream.sees_requests(1));
  expect_problem(gateway.call(keyed_call("fpr-03", R"({"n":2})")), "key-reused");
  std::future<Response> equal = gateway.begin(keyed_call("fpr-03", R"({"n":1})"));
  ASSERT_TRUE(sees_duplicates(gateway, 1));
  gateway.upstream.let_go();
  const Response answer = first.get();
  expect_executed(answer, 201);
  expect_same_answer(equal.get(), answer);
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

TEST(ReportedCases, FPR_06_AnEditAfterAnUnansweredCallIsNoNewCall) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(commits_and_answers_when_let_go(201, R"({"id":"note-1"})"));
  call_and_leave(gateway, keyed_call("note-1", R"({"id":"note-1","text":"v1"})"));
  gateway.upstream.let_go();
  expect_problem(gateway.call(keyed_call("note-1", R"({"id":"note-1","text":"v2"})")),
                 "key-reused");
  expect_replay(gateway.call(keyed_call("note-1", R"({"id":"note-1","text":"v1"})")), 201,
                R"({"id":"note-1"})");
  expect_one_effect(gateway);
}

TEST(ReportedCases, FPR_08_ARisingRequestIdIsNoOtherPayload) {
  Gateway gateway(one_route(derived("/mcp",
                                    ", fields: [/params/_meta/idempotency-key],"
                                    " guards: [/method, /params/name, /params/arguments]")));
  gateway.upstream.script(
      commits_and_answers(200, R"({"jsonrpc":"2.0","id":1,"result":{"order":"o1"}})"));
  const auto checkout = [](const char* id, const char* cart) {
    return json_call("/mcp", std::string(R"({"jsonrpc":"2.0","id":)") + id +
                                 R"(,"method":"tools/call","params":{"name":"complete_checkout",)"
                                 R"("arguments":{"cart":")" +
                                 cart + R"("},"_meta":{"idempotency-key":"ik-1","progressToken":)" +
                                 id + "}}}");
  };
  const Response first = gateway.call(checkout("1", "c1"));
  expect_executed(first, 200);
  // A replay is exact (spec 8), so it bears the first call's id; docs/http-surface.md says so.
  expect_same_answer(gateway.call(checkout("2", "c1")), first);
  expect_problem(gateway.call(checkout("3", "c2")), "key-reused");
  expect_one_effect(gateway);
}

TEST(ReportedCases, CAN_01_MembersInAnotherOrderAreTheSameCall) {
  Gateway gateway(one_route(derived("/send", "")));
  expect_two_calls(
      gateway, json_call("/send", R"({"to":"x","meta":{"b":1,"a":[1,2]}})"),
      json_call("/send", "{ \"meta\" : { \"a\" : [ 1 , 2 ] , \"b\" : 1 } ,\n \"to\" : \"x\" }"),
      true);
}

TEST(ReportedCases, CAN_03_AnIntegerThatAHopRespelledIsTheSameNumber) {
  Gateway gateway(one_route(derived("/lines", ", fields: [/hours, /id]")));
  expect_two_calls(gateway, json_call("/lines", R"({"hours":1.0,"id":5})"),
                   json_call("/lines", R"({"hours":1,"id":5.0})"), true);
  expect_executed(gateway.call(json_call("/lines", R"({"hours":1.5,"id":5})")), 201);
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(ReportedCases, CAN_05_TwoSpellingsOfAnAccentAreOneWordAndTheToolReadsTheFirst) {
  Gateway gateway(one_route(derived("/names", ", fields: [/n]")));
  const std::string composed = R"({"n":"caf\u00e9"})";
  expect_two_calls(gateway, json_call("/names", composed),
                   json_call("/names", R"({"n":"cafe\u0301"})"), true);
  EXPECT_EQ(gateway.upstream.last_received().body, composed);
  expect_executed(gateway.call(json_call("/names", R"({"n":"cafe"})")), 201);
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(ReportedCases, CAN_07_WhiteSpaceInsideATextCountsWhereTheTextDoes) {
  struct Row {
    const char* name;
    const char* fields;
    bool are_one;
  };
  for (const auto& [name, fields, are_one] :
       {Row{"the message id", ", fields: [/message_id]", true}, {"the whole body", "", false}}) {
    SCOPED_TRACE(name);
    Gateway gateway(one_route(derived("/hook", fields)));
    expect_two_calls(gateway, json_call("/hook", R"({"message_id":"m1","text":"hello   world"})"),
                     json_call("/hook", R"({"message_id":"m1","text":"hello\nworld"})"), are_one);
  }
}

TEST(ReportedCases, CAN_10_AFileIsItsBytesWhateverItIsCalled) {
  Gateway gateway(one_route(derived("/ingest", "")));
  const auto file = [](const char* name, const char* bytes) {
    return Request{"POST",
                   "/ingest",
                   {{"Content-Type", "application/octet-stream"}, {"X-Filename", name}},
                   bytes};
  };
  expect_two_calls(gateway, file("a.csv", "bytes-1"), file("b.csv", "bytes-1"), true);
  expect_executed(gateway.call(file("a.csv", "bytes-2")), 201);
  EXPECT_EQ(gateway.upstream.effects(), 2);
}

TEST(ReportedCases, AGT_01_AReasonInOtherWordsIsOneTransferWhereOnlyItsFieldsCount) {
  struct Row {
    const char* name;
    const char* fields;
    bool are_one;
  };
  for (const auto& [name, fields, are_one] :
       {Row{"named fields", ", fields: [/task, /to, /amount]", true},
        {"the whole body", "", false}}) {
    SCOPED_TRACE(name);
    Gateway gateway(one_route(derived("/execute/transfer", fields)));
    const auto transfer = [](const std::string& reason) {
      return json_call("/execute/transfer",
                       R"({"to":"0xabc","amount":"5","task":"t-9","reason":")" + reason + "\"}");
    };
    expect_two_calls(gateway, transfer("monthly fee"), transfer("fee for the month"), are_one);
  }
}

TEST(ReportedCases, AGT_05_AKeyOfTheClientsTellsEqualCallsApart) {
  CaseRoute route = derived("/topup", ", fields: [/card, /amount]");
  route.client_key = "optional";
  Gateway gateway(one_route(route));
  gateway.upstream.script(commits_and_counts());
  const std::string body = R"({"card":"c","amount":10})";
  expect_executed(gateway.call(keyed_call("first", body, "/topup")), 201);
  expect_executed(gateway.call(keyed_call("second", body, "/topup")), 201);
  const Response third = gateway.call(json_call("/topup", body));
  expect_executed(third, 201);
  expect_same_answer(gateway.call(json_call("/topup", body)), third);
  EXPECT_EQ(gateway.upstream.requests(), 3);
  EXPECT_TRUE(eventually([&] {
    return gateway.semel.metric("semel_duplicates_suppressed_total") == 1;
  })) << "the suppression is visible";
}

TEST(ReportedCases, KEY_01_AQuotedKeyIsTheBareOneAndItsCaseCounts) {
  Gateway gateway(one_route({}));
  gateway.upstream.script(commits_and_counts());
  const Response first = gateway.call(keyed_call("\"8e03978e-40d5\""));
  expect_executed(first, 201);
  expect_same_answer(gateway.call(keyed_call("8e03978e-40d5")), first);
  expect_executed(gateway.call(keyed_call(R"("a\"b")")), 201);
  expect_executed(gateway.call(keyed_call("\"8E03978E-40D5\"")), 201);
  EXPECT_EQ(gateway.upstream.requests(), 3);
}

TEST(ReportedCases, KEY_03_AKeyOnTwoLinesIsRefusedAndNeverASecondPayment) {
  Gateway gateway(one_route({}));
  const auto twice = [](const std::string& one, const std::string& other) {
    Request request = keyed_call(one);
    request.headers.emplace_back("Idempotency-Key", other);
    return request;
  };
  // Spec 10: a repeated Idempotency-Key is 400, also where both lines say the same.
  EXPECT_EQ(gateway.call(twice("K1", "K1")).status, 400);
  expect_executed(gateway.call(keyed_call("K1")), 200);
  EXPECT_EQ(gateway.call(twice("K2", "K3")).status, 400);
  expect_one_effect(gateway);
}

TEST(ReportedCases, KEY_04_AKeyHasOneTo255Characters) {
  Gateway gateway(one_route({}));
  expect_problem(gateway.call(keyed_call("")), "key-malformed");
  expect_problem(gateway.call(keyed_call(std::string(256, 'a'))), "key-malformed");
  expect_executed(gateway.call(keyed_call(std::string(255, 'a'))), 200);
  expect_one_effect(gateway);
}

TEST(ReportedCases, KEY_07_TheHeadersNameMayBeWrittenInAnyCase) {
  Gateway gateway(one_route({}));
  const auto named = [](const char* type, const char* key) {
    return Request{"POST", "/calls", {{type, "application/json"}, {key, "k7"}}, R"({"p":1})"};
  };
  expect_two_calls(gateway, named("content-type", "idempotency-key"),
                   named("Content-Type", "IDEMPOTENCY-KEY"), true);
}

TEST(ReportedCases, SCP_01_OneTenantNeverReadsAnothersStoredAnswer) {
  CaseRoute route;
  route.key = "{tenant: {header: X-Tenant}}";
  Gateway gateway(one_route(route));
  gateway.upstream.script([](Turn& turn) {
    turn.commit();
    turn.send(response_text(201, turn.request().all("X-Tenant").at(0)));
  });
  for (const char* tenant : {"t1", "t2"}) {
    Request request = keyed_call("same");
    request.headers.emplace_back("X-Tenant", tenant);
    const Response response = gateway.call(request);
    expect_executed(response, 201);
    EXPECT_EQ(response.body, tenant);
  }
  EXPECT_EQ(gateway.upstream.requests(), 2);
}

TEST(ReportedCases, SCP_04_OneKeyOnTwoResourcesIsNeverASuccessOfTheOther) {
  CaseRoute route;
  route.match = "{methods: [PUT], path: \"/tickets/{id}\"}";
  route.policy = "IDEMPOTENT";
  Gateway gateway(one_route(route));
  const auto close = [](const char* ticket) {
    Request request = keyed_call("scp-04", R"({"s":"closed"})", ticket);
    request.method = "PUT";
    return request;
  };
  expect_executed(gateway.call(close("/tickets/1")), 200);
  // Spec 5: the path is in the fingerprint of a client's key.
  expect_problem(gateway.call(close("/tickets/2")), "key-reused");
  EXPECT_EQ(gateway.upstream.requests(), 1);
}

}  // namespace
}  // namespace semel::testing
