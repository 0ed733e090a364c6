#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

/// Routes that show each refusal before a claim; a plain route catches what falls through.
std::string refusing_routes() {
  return tool_routes() + R"(
  - name: pay
    match: {methods: [POST], path: "/accounts/{account}/pay"}
    upstream: tool
    policy: EFFECTFUL
    key: {tenant: {header: X-Tenant-Id}}
    client_key: required
  - name: whole
    match: {methods: [POST], path: /tools/whole}
    upstream: tool
    policy: EFFECTFUL
    key: {tenant: {header: X-Tenant-Id}, run: none}
  - name: search
    match: {methods: [POST], path: /tools/search}
    upstream: tool
    policy: IDEMPOTENT
    key: {tenant: {header: X-Tenant-Id}, run: none, fields: [{query: q}]}
  - name: rest
    match: {path: /*}
    upstream: tool
)";
}

struct Refusal {
  const char* name;
  Request request;
  const char* slug;
};

Request with_lines(const std::string& path, const std::string& body, const HeaderLines& lines) {
  return Gateway::tool_request(path, body, lines);
}

Request without(Request request, std::string_view name) {
  std::erase_if(request.headers, [&](const HeaderLine& line) { return line.first == name; });
  return request;
}

std::string json_of_depth(int depth) {
  const auto levels = static_cast<std::size_t>(depth - 1);
  return R"({"flight":"BA117","seats":2,"name":"Zoe","x":)" + std::string(levels, '[') +
         std::string(levels, ']') + "}";
}

/// Expects each row's problem and that the tool has seen nothing.
void expect_refusals(const std::vector<Refusal>& rows) {
  GatewayOptions options;
  options.routes = refusing_routes();
  Gateway gateway(options);
  for (const Refusal& row : rows) {
    SCOPED_TRACE(row.name);
    expect_problem(gateway.call(row.request), row.slug);
  }
  EXPECT_EQ(gateway.upstream.requests(), 0) << gateway.upstream.last_received().head;
  EXPECT_EQ(gateway.book().status, 200) << "a sound call still goes through";
}

TEST(Refusal, AKeyThatIsMissingOrMalformed) {
  const auto pay = [](const HeaderLines& lines) {
    return with_lines("/accounts/1/pay", R"({"amount":1})", lines);
  };
  expect_refusals({
      {"no key where one is required", pay({}), "key-missing"},
      {"an empty key", pay({{"Idempotency-Key", ""}}), "key-malformed"},
      {"a space inside", pay({{"Idempotency-Key", "a b"}}), "key-malformed"},
      {"an unbalanced quote", pay({{"Idempotency-Key", "\"abc"}}), "key-malformed"},
      {"a quote at the end", pay({{"Idempotency-Key", "abc\""}}), "key-malformed"},
      {"an empty string", pay({{"Idempotency-Key", "\"\""}}), "key-malformed"},
      {"a parameter", pay({{"Idempotency-Key", "\"abc\";p=1"}}), "key-malformed"},
      {"256 characters", pay({{"Idempotency-Key", std::string(256, 'k')}}), "key-malformed"},
      {"not ASCII", pay({{"Idempotency-Key", "k\xC3\xA9y"}}), "key-malformed"},
  });
}

TEST(Refusal, AKeyThatCannotBeDerived) {
  const std::string no_name = R"({"flight":"BA117","seats":2})";
  expect_refusals({
      {"no tenant", without(Gateway::tool_request("/tools/book"), "X-Tenant-Id"),
       "key-underivable"},
      {"an empty tenant", with_lines("/tools/book", kBooking, {{"X-Tenant-Id", ""}}),
       "key-underivable"},
      {"white space for a tenant", with_lines("/tools/book", kBooking, {{"X-Tenant-Id", " \t"}}),
       "key-underivable"},
      {"no run", without(Gateway::tool_request("/tools/book"), "X-Run-Id"), "key-underivable"},
      {"a missing field", with_lines("/tools/book", no_name, {}), "key-underivable"},
      {"no body at all", with_lines("/tools/book", "", {}), "key-underivable"},
      {"no such query parameter", with_lines("/tools/search?p=1", "", {}), "key-underivable"},
      {"an empty query parameter", with_lines("/tools/search?q=", "", {}), "key-underivable"},
  });
}

TEST(Refusal, ABodyThatCouldBeReadInTwoWays) {
  const auto book = [](const std::string& body) { return with_lines("/tools/book", body, {}); };
  const std::string good = R"("flight":"BA117","seats":2,"name":"Zoe")";
  expect_refusals({
      {"a member twice", book("{" + good + R"(,"flight":"BA118"})"), "body-ambiguous"},
      {"a member twice, once escaped", book("{" + good + R"(,"fl\u0069ght":"BA118"})"),
       "body-ambiguous"},
      {"a member twice after NFC", book("{" + good + ",\"\xC3\xA9\":1,\"e\xCC\x81\":2}"),
       "body-ambiguous"},
      {"a member twice, deep inside", book("{" + good + R"(,"x":[{"a":1,"a":1}]})"),
       "body-ambiguous"},
      {"a case twin of a named member", book("{" + good + R"(,"Flight":"BA118"})"),
       "body-ambiguous"},
      {"a lone surrogate", book("{" + good + R"(,"x":"\ud800"})"), "body-ambiguous"},
      {"a lone low surrogate", book("{" + good + R"(,"x":"\udc00"})"), "body-ambiguous"},
      {"invalid UTF-8", book("{" + good + ",\"x\":\"\xFF\"}"), "body-ambiguous"},
      {"an overlong slash", book("{" + good + ",\"x\":\"\xC0\xAF\"}"), "body-ambiguous"},
      {"a byte order mark", book("\xEF\xBB\xBF{" + good + "}"), "body-ambiguous"},
      {"trailing data", book("{" + good + "} {}"), "body-ambiguous"},
      {"depth 65", book(json_of_depth(65)), "body-ambiguous"},
      {"a trailing comma", book("{" + good + ",}"), "body-ambiguous"},
      {"NaN", book("{" + good + ",\"x\":NaN}"), "body-ambiguous"},
      {"cut", book("{" + good), "body-ambiguous"},
      {"the whole body counts and has a member twice",
       with_lines("/tools/whole", R"({"a":1,"a":2})", {}), "body-ambiguous"},
  });
}

TEST(Refusal, ANumberBeyondEveryMeasureIs400) {
  Gateway gateway;
  const std::vector<std::string> numbers = {"1e10001", "1e-10001", "1E+99999999999999999999",
                                            std::string(1001, '9')};
  for (const std::string& number : numbers) {
    SCOPED_TRACE(number.substr(0, 30));
    const Response refused =
        gateway.book(R"({"flight":"BA117","name":"Zoe","seats":)" + number + "}");
    EXPECT_EQ(refused.status, 400);
    const std::string slug = problem_slug(refused);
    EXPECT_TRUE(slug == "key-underivable" || slug == "body-ambiguous") << slug;
  }
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(Refusal, TheLastMeasureThatIsAllowedGoesThrough) {
  Gateway gateway;
  const std::string head = R"({"flight":"BA117","name":"Zoe","seats":)";
  for (const std::string& body :
       {head + "1e10000}", head + "1e-10000}", head + std::string(1000, '9') + "}",
        head + "0e99999999}", json_of_depth(64)}) {
    SCOPED_TRACE(body.substr(0, 80));
    EXPECT_EQ(gateway.book(body).status, 200);
  }
}

TEST(Refusal, AContentTypeThatCannotBeKeyed) {
  const auto typed = [](const std::string& path, const HeaderLines& lines) {
    return with_lines(path, kBooking, lines);
  };
  const std::string boundary = "multipart/form-data; boundary=x";
  expect_refusals({
      {"text", typed("/tools/book", {{"Content-Type", "text/plain"}}), "content-type"},
      {"no type", without(typed("/tools/book", {}), "Content-Type"), "content-type"},
      {"latin1", typed("/tools/book", {{"Content-Type", "application/json; charset=latin1"}}),
       "content-type"},
      {"multipart", typed("/tools/book", {{"Content-Type", boundary}}), "content-type"},
      {"multipart where the whole request counts",
       typed("/tools/whole", {{"Content-Type", boundary}}), "content-type"},
      {"a gzip body", typed("/tools/book", {{"Content-Encoding", "gzip"}}), "content-type"},
      {"a gzip body where the whole request counts",
       typed("/tools/whole", {{"Content-Encoding", "gzip"}}), "content-type"},
  });
}

TEST(Refusal, ContentTypesThatCanBeKeyedGoThrough) {
  GatewayOptions options;
  options.routes = refusing_routes();
  Gateway gateway(options);
  struct Row {
    const char* path;
    const char* type;
    const char* body;
  };
  constexpr Row kRows[] = {
      {"/tools/book", "application/json; charset=UTF-8", kBooking},
      {"/tools/book", "application/vnd.x+json", kBooking},
      {"/tools/book", "application/x-www-form-urlencoded", "flight=BA117&seats=2&name=Zo%C3%AB"},
      {"/tools/whole", "application/octet-stream", "\x01\x02\xFF"},
      {"/tools/whole", "text/plain", "hello"},
  };
  int run = 0;
  for (const auto& [path, type, body] : kRows) {
    SCOPED_TRACE(type);
    const HeaderLines lines = {{"Content-Type", type}, {"X-Run-Id", std::to_string(++run)}};
    EXPECT_EQ(gateway.call_tool(path, body, lines).status, 200);
    EXPECT_EQ(gateway.upstream.last_received().body, body) << "byte for byte";
  }
  EXPECT_EQ(gateway.upstream.requests(), static_cast<int>(std::size(kRows)));
}

TEST(Refusal, NoRouteMeansNo) {
  Gateway gateway;
  for (const char* path : {"/", "/nowhere", "/tools", "/tools/", "/tools/boo", "/tools/book/x"}) {
    SCOPED_TRACE(path);
    expect_problem(gateway.call_tool(path), "no-route");
  }
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(Refusal, AMethodThatNoKeyedRouteListsIsRefusedEvenBeforeAWildcard) {
  GatewayOptions options;
  options.routes = refusing_routes();
  Gateway gateway(options);
  for (const char* method : {"GET", "PUT", "DELETE", "PATCH", "QUERY"}) {
    SCOPED_TRACE(method);
    const Response refused = gateway.call({method, "/tools/book", {}, {}});
    expect_problem(refused, "method");
    EXPECT_EQ(refused.header("Allow"), "POST");
  }
  const Response head = gateway.call({"HEAD", "/tools/book", {}, {}});
  EXPECT_EQ(head.status, 405);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(Refusal, ABodyOverTheLimitIsRefusedBeforeAnyClaim) {
  Gateway gateway;
  const std::string large =
      R"({"flight":"BA117","seats":2,"name":")" + std::string(1'100'000, 'x') + "\"}";
  expect_problem(gateway.book(large), "body-too-large");
  HttpClient chunked(gateway.semel.port());
  Request request = Gateway::tool_request("/tools/book", "", {{"Transfer-Encoding", "chunked"}});
  std::string text = text_of(request);
  for (int i = 0; i < 20; ++i) text += "10000\r\n" + std::string(0x10000, 'x') + "\r\n";
  chunked.send(text);
  expect_problem(chunked.read(), "body-too-large");
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(Refusal, ARequestThatDoesNotArriveInTimeIsToldSo) {
  GatewayOptions options;
  options.more = "limits: {header_timeout: 400ms, body_timeout: 400ms}\n";
  Gateway gateway(options);
  HttpClient slow_head(gateway.semel.port());
  slow_head.send("POST /tools/book HTTP/1.1\r\nHost: a\r\nX-Ten");
  expect_problem(slow_head.read(), "request-timeout");
  EXPECT_TRUE(slow_head.sees_end());
  HttpClient slow_body(gateway.semel.port());
  slow_body.send(text_of(Gateway::tool_request("/tools/book", "", {{"Content-Length", "50"}})) +
                 "{\"fl");
  expect_problem(slow_body.read(), "request-timeout");
  EXPECT_TRUE(slow_body.sees_end());
  EXPECT_EQ(gateway.upstream.requests(), 0);
}

TEST(Refusal, ABodyThatTricklesInIsNotWaitedForToTheEnd) {
  GatewayOptions options;
  options.more = "limits: {body_timeout: 500ms, body_min_rate: 256}\n";
  Gateway gateway(options);
  HttpClient client(gateway.semel.port(), milliseconds{50});
  client.send(text_of(Gateway::tool_request("/tools/book", "", {{"Content-Length", "5000"}})));
  const Deadline deadline(milliseconds{15'000});
  // Each byte comes in time; the body never does.
  while (!client.sees("\r\n\r\n") && !deadline.passed()) client.send("x");
  expect_problem(client.read(), "request-timeout");
}

TEST(Refusal, AConnectionThatBringsNothingIsEndedQuietly) {
  GatewayOptions options;
  options.more = "limits: {idle_timeout: 300ms}\n";
  Gateway gateway(options);
  HttpClient idle(gateway.semel.port());
  EXPECT_EQ(idle.exchange(Gateway::tool_request("/tools/book")).status, 200);
  EXPECT_TRUE(idle.sees_end()) << "no byte, just the end";
}

}  // namespace
}  // namespace semel::testing
