#include <gtest/gtest.h>

#include "tests/support/http_client.h"
#include "tests/support/json.h"
#include "tests/support/scripts.h"
#include "tests/support/secrets.h"
#include "tests/support/semel_process.h"

namespace semel::testing {
namespace {

TEST(Instruments, TheClientReadsWhatTheToolSaysAndTheToolCountsIt) {
  ScriptedUpstream tool;
  tool.script(commits_and_answers(201, "hello", {{"X-A", "1"}, {"X-A", "2"}}));
  const Response response = call(tool.port(), {"POST", "/a?b", {{"X-B", "3"}}, "body"});
  EXPECT_TRUE(response.is_complete());
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.body, "hello");
  EXPECT_EQ(response.header("x-a"), "1|2");
  EXPECT_EQ(tool.requests(), 1);
  EXPECT_EQ(tool.effects(), 1);
  EXPECT_EQ(tool.received(1).method, "POST");
  EXPECT_EQ(tool.received(1).target, "/a?b");
  EXPECT_EQ(tool.received(1).body, "body");
  EXPECT_EQ(tool.received(1).all("x-b"), std::vector<std::string>{"3"});
}

TEST(Instruments, TheClientIsStrict) {
  struct Row {
    const char* name;
    const char* raw;
    Then then;
    ReadEnd end;
  };
  constexpr Row kRows[] = {
      {"cut head", "HTTP/1.1 200 OK\r\nX", Then::Finish, ReadEnd::Cut},
      {"cut body", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", Then::Finish, ReadEnd::Cut},
      {"reset body", "HTTP/1.1 200 OK\r\n\r\nx", Then::Reset, ReadEnd::Cut},
      {"cut chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
       Then::Finish, ReadEnd::Cut},
      {"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n", Then::Keep,
       ReadEnd::Malformed},
      {"framed twice",
       "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
       Then::Keep, ReadEnd::Malformed},
      {"a folded line", "HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\nContent-Length: 0\r\n\r\n", Then::Keep,
       ReadEnd::Malformed},
      {"a bare CR", "HTTP/1.1 200 OK\r\nX: 1\r2\r\nContent-Length: 0\r\n\r\n", Then::Keep,
       ReadEnd::Malformed},
      {"interim, then chunks",
       "HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
       "\r\n",
       Then::Keep, ReadEnd::Complete},
      {"until the end", "HTTP/1.1 200 OK\r\n\r\nx", Then::Finish, ReadEnd::Complete},
  };
  ScriptedUpstream tool;
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    tool.script(commits_and_sends(row.raw, row.then));
    EXPECT_EQ(name(fetch(tool.port(), "/").end), name(row.end));
  }
}

TEST(Instruments, TheToolRefusesAndListensAgain) {
  ScriptedUpstream tool;
  tool.refuse();
  EXPECT_FALSE(HttpClient(tool.port()).is_connected());
  tool.listen_again();
  EXPECT_EQ(fetch(tool.port(), "/").status, 200);
  tool.at_accept(ScriptedUpstream::AtAccept::Reset);
  EXPECT_EQ(name(fetch(tool.port(), "/").end), "cut");
}

TEST(Instruments, TheToolEndsIdleConnections) {
  ScriptedUpstream tool;
  tool.close_idle_after(milliseconds{20});
  HttpClient client(tool.port());
  EXPECT_EQ(client.exchange({"GET", "/", {}, {}}).status, 200);
  EXPECT_TRUE(client.sees_end());
  EXPECT_TRUE(eventually([&] { return tool.open_connections() == 0; }));
}

TEST(Instruments, ABlackholeNeitherAcceptsNorRefuses) {
  const Blackhole hole;
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(HttpClient(hole.port(), milliseconds{100}).is_connected());
  EXPECT_GE(std::chrono::steady_clock::now() - began, milliseconds{100});
}

TEST(Instruments, TheJsonReaderIsStrict) {
  const Json json = Json::parse(R"({"a":[1.50,true,null,"\u00e9\ud83d\ude00\n"],"b":{}})");
  ASSERT_EQ(json["a"].items().size(), 4U);
  EXPECT_EQ(json["a"].items()[0].text(), "1.50");
  EXPECT_EQ(json["a"].items()[1].kind(), Json::Kind::Boolean);
  EXPECT_EQ(json["a"].items()[2].kind(), Json::Kind::Null);
  EXPECT_EQ(json["a"].items()[3].text(), "\xC3\xA9\xF0\x9F\x98\x80\n");
  EXPECT_EQ(json["b"].kind(), Json::Kind::Object);
  EXPECT_TRUE(json["c"].is_absent());
  for (const char* bad :
       {"", "{", "[1,]", R"({"a":1,"a":2})", "{} {}", "nul", "\"\x01\"", R"("\ud800")", "01x"}) {
    EXPECT_TRUE(Json::parse(bad).is_absent()) << bad;
  }
}

TEST(Instruments, MetricsAreReadWithTheirLabels) {
  const std::vector<Sample> samples =
      parse_metrics("# TYPE a counter\na 1\nb{x=\"1\",y=\"z w\"} 2.5\nc{} 3e2\n");
  ASSERT_EQ(samples.size(), 3U);
  EXPECT_EQ(samples[0].name, "a");
  EXPECT_EQ(samples[1].labels.at("y"), "z w");
  EXPECT_EQ(samples[1].value, 2.5);
  EXPECT_EQ(samples[2].value, 300);
}

TEST(Instruments, ASecretIsFoundInEverySpelling) {
  Secrets secrets;
  const std::string secret = "correct/horse+battery~staple";
  secrets.plant(secret);
  // The spellings are those of base64(1), xxd(1) and encodeURIComponent.
  for (const char* text : {
           "a correct/horse+battery~staple b", "correct%2Fhorse%2Bbattery~staple",
           "636f72726563742f686f7273652b626174746572797e737461706c65",
           "636F72726563742F686F7273652B626174746572797E737461706C65",
           "Y29ycmVjdC9ob3JzZStiYXR0ZXJ5fnN0YXBsZQ==",
           "bWU6Y29ycmVjdC9ob3JzZStiYXR0ZXJ5fnN0YXBsZQ==",      // me:
           "YTpjb3JyZWN0L2hvcnNlK2JhdHRlcnl+c3RhcGxlOmI=",      // a: and :b
           "YTpjb3JyZWN0L2hvcnNlK2JhdHRlcnl-c3RhcGxlOmI=",      // the same for a URL
           "YWI6Y29ycmVjdC9ob3JzZStiYXR0ZXJ5fnN0YXBsZTpi",      // ab: and :b
           "YWJjOmNvcnJlY3QvaG9yc2UrYmF0dGVyeX5zdGFwbGU6Yg==",  // abc: and :b
       }) {
    EXPECT_FALSE(secrets.found_in(text).empty()) << text;
  }
  EXPECT_TRUE(secrets.found_in("correct/horse+battery~stapl, Correct/horse").empty());
  for (int i = 0; i < 3; ++i) {
    const std::string drawn = secrets.plant();
    EXPECT_FALSE(secrets.found_in("x=" + drawn).empty());
    EXPECT_FALSE(secrets.found_in("x=" + percent_encoded(drawn)).empty());
  }
  EXPECT_EQ(secrets.count(), 4U);
}

TEST(Instruments, AChildsEndIsSeenAsItWas) {
  const Finished exited = run({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(exited.exit);
  EXPECT_EQ(exited.exit->code, 3);
  EXPECT_EQ(exited.out, "out\n");
  EXPECT_EQ(exited.err, "err\n");
  const Finished killed = run({"/bin/sh", "-c", "kill -9 $$"});
  ASSERT_TRUE(killed.exit);
  EXPECT_EQ(killed.exit->signal, 9);
  EXPECT_FALSE(run({"/bin/sleep", "60"}, milliseconds{50}).exit) << "it was ended at the deadline";
}

}  // namespace
}  // namespace semel::testing
