#include "core/route_table.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/corpus.h"

namespace semel {
namespace {

/// No methods: any.
Route make_route(std::string name, std::vector<std::string> methods, std::string pattern,
                 Policy policy = Policy::None) {
  Route route;
  route.name = std::move(name);
  route.methods = std::move(methods);
  route.pattern = std::move(pattern);
  route.policy = policy;
  auto segments = parse_pattern(route.pattern);
  if (const auto* wrong = std::get_if<std::string>(&segments)) ADD_FAILURE() << *wrong;
  route.segments = std::get<std::vector<PatternSegment>>(std::move(segments));
  return route;
}

/// The answer in words: a route's name, `400`, `404`, or `405 ` and Allow. A refused path is `400`.
std::string answer(const RouteTable& table, std::string_view method, std::string_view path) {
  const auto normal = normalise_path(path, table.any_loose());
  if (std::holds_alternative<PathRefusal>(normal)) return "400";
  const RouteAnswer given = table.match(method, std::get<NormalPath>(normal));
  if (const auto* match = std::get_if<RouteMatch>(&given)) return match->route->name;
  if (const auto* refused = std::get_if<MethodNotAllowed>(&given)) return "405 " + refused->allow;
  return std::holds_alternative<NoRoute>(given) ? "404" : "400";
}

std::string normal_text(std::string_view path, bool loose = false) {
  const auto normal = normalise_path(path, loose);
  const auto* refusal = std::get_if<PathRefusal>(&normal);
  return refusal ? "refused: " + std::string(refusal->reason) : std::get<NormalPath>(normal).text;
}

RouteTable booking_table() {
  return RouteTable({make_route("book", {"POST"}, "/tools/book", Policy::Effectful),
                     make_route("fare", {"POST"}, "/tools/fare", Policy::ReadOnly)});
}

TEST(RouteTable, NoSpellingOfTheCorpusReachesAWeakerRoute) {
  const RouteTable denying = booking_table();
  const auto rows = testing::read_rows(SEMEL_SOURCE_DIR "/tests/core/corpus/paths.jsonl");
  ASSERT_EQ(rows.size(), 30u);
  for (const auto& row : rows) {
    const std::string& target = row["target"].text();
    SCOPED_TRACE(target);
    const std::string got = answer(denying, "POST", target.substr(0, target.find('?')));
    if (row["verdict"].text() == "effectful") {
      EXPECT_EQ(got, "book");
    } else {
      EXPECT_TRUE(got == "400" || got == "404") << got;
    }
  }
}

TEST(NormalPath, PlainPathsStayAsTheyAre) {
  for (const char* path : {"/", "/a", "/tools/book", "/a/", "/a.b/~c/-_", "/a:b@c!$&'()*+,=d",
                           "/...", "/.a", "/..a/b.."}) {
    EXPECT_EQ(normal_text(path), path);
  }
}

TEST(NormalPath, Rfc3986Section6_2_2EscapesAreNormalised) {
  EXPECT_EQ(normal_text("/%62ook"), "/book");
  EXPECT_EQ(normal_text("/%7euser/%2D%5f%2ea"), "/~user/-_.a");
  EXPECT_EQ(normal_text("/a%20b%c3%a9"), "/a%20b%C3%A9");
  EXPECT_EQ(normal_text("/%40%3a"), "/%40%3A");  // reserved: stays escaped
  EXPECT_EQ(normal_text("/100%25"), "/100%25");
}

TEST(NormalPath, SegmentsAreDecodedBytes) {
  const auto normal = std::get<NormalPath>(normalise_path("/a%20b/%40/%c3%a9/", false));
  EXPECT_EQ(normal.segments, (std::vector<std::string>{"a b", "@", "\xC3\xA9", ""}));
  EXPECT_EQ(std::get<NormalPath>(normalise_path("/", false)).segments,
            std::vector<std::string>{""});
}

struct RefusedPath {
  const char* path;
  const char* word;  ///< Of the reason.
};

TEST(NormalPath, WhatTwoServersReadDifferentlyIsRefused) {
  const RefusedPath rows[] = {
      {"", "begin"},
      {"a/b", "begin"},
      {"//", "empty"},
      {"/a//b", "empty"},
      {"//a", "empty"},
      {"/a//", "empty"},
      {"/.", "dot"},
      {"/..", "dot"},
      {"/a/./b", "dot"},
      {"/a/../b", "dot"},
      {"/a/..", "dot"},
      {"/%2e", "dot"},
      {"/%2e./b", "dot"},
      {"/.%2E/b", "dot"},
      {"/a%2fb", "slash"},
      {"/a%2Fb", "slash"},
      {"/a%5cb", "backslash"},
      {"/a\\b", "character"},
      {"/a%00", "control"},
      {"/a%1F", "control"},
      {"/a%7f", "control"},
      {"/a%252fb", "doubly"},
      {"/a%25%32%66", "doubly"},
      {"/%25%32e", "doubly"},
      {"/a;b", "semicolon"},
      {"/a%3bb", "semicolon"},
      {"/a%", "broken"},
      {"/a%2", "broken"},
      {"/a%g0", "broken"},
      {"/a%u0041", "broken"},
      {"/a%c0%af", "overlong"},
      {"/a%e0%80%af", "overlong"},
      {"/a%f0%80%80%af", "overlong"},
      {"/a b", "character"},
      {"/a\"b", "character"},
      {"/a<b", "character"},
      {"/a[b", "character"},
      {"/a|b", "character"},
      {"/a{b", "character"},
      {"/a#b", "character"},
      {"/a?b", "character"},
      {"/\xC3\xA9", "character"},
  };
  for (const RefusedPath& row : rows) {
    const std::string got = normal_text(row.path);
    EXPECT_TRUE(got.starts_with("refused: ") && got.find(row.word) != std::string::npos)
        << row.path << " gave " << got;
  }
}

TEST(NormalPath, LooseEscapesPassOnlyWhereAskedFor) {
  const auto normal = std::get<NormalPath>(normalise_path("/a%2fb;v=1/%2541", true));
  EXPECT_EQ(normal.text, "/a%2Fb;v=1/%2541");
  EXPECT_TRUE(normal.has_loose_escapes);
  EXPECT_EQ(normal.loose_escapes, kEscapedSlash | kSemicolon | kDoubleEscape);
  EXPECT_EQ(normal.segments.front(), "a/b;v=1");
  EXPECT_FALSE(std::get<NormalPath>(normalise_path("/a%20b", true)).has_loose_escapes);
}

TEST(NormalPath, LooseEscapesHideNoDotSegment) {
  for (const char* path :
       {"/a%2f..%2fb", "/..%2fb", "/a%2f..", "/..;v=1/b", "/a/.;", "/%2e%2e%2fb"}) {
    EXPECT_EQ(normal_text(path, true), "refused: the path has a dot segment") << path;
  }
  EXPECT_EQ(normal_text("/a%5cb", true), "refused: the path has an escaped backslash");
}

TEST(RoutePattern, SaysWhatIsWrong) {
  for (const char* pattern : {"", "a", "/a//b", "/*/a", "/a*", "/{}", "/{1a}", "/{a}b", "/{a b}",
                              "/{a}/{a}", "/a;b", "/a%2fb", "/..", "/a b", "/a?b"}) {
    EXPECT_TRUE(std::holds_alternative<std::string>(parse_pattern(pattern))) << pattern;
  }
}

TEST(RoutePattern, LiteralsAreDecodedAsPathsAre) {
  const auto segments =
      std::get<std::vector<PatternSegment>>(parse_pattern("/%62ook/a%20b/{id}/*"));
  using Kind = PatternSegment::Kind;
  EXPECT_EQ(
      segments,
      (std::vector<PatternSegment>{
          {Kind::Literal, "book"}, {Kind::Literal, "a b"}, {Kind::Param, "id"}, {Kind::Rest, ""}}));
}

TEST(RouteTable, MatchesLiteralsParametersAndTheRest) {
  const RouteTable table({make_route("root", {}, "/"), make_route("pay", {}, "/accounts/{id}/pay"),
                          make_route("files", {}, "/files/*"), make_route("slash", {}, "/dir/")});
  EXPECT_EQ(answer(table, "GET", "/"), "root");
  EXPECT_EQ(answer(table, "GET", "/accounts/1/pay"), "pay");
  EXPECT_EQ(answer(table, "GET", "/accounts//pay"), "400");
  EXPECT_EQ(answer(table, "GET", "/accounts/1/2/pay"), "404");
  EXPECT_EQ(answer(table, "GET", "/accounts/1/pay/"), "404");
  EXPECT_EQ(answer(table, "GET", "/files/a/b"), "files");
  EXPECT_EQ(answer(table, "GET", "/files/"), "files");
  EXPECT_EQ(answer(table, "GET", "/files"), "404");
  EXPECT_EQ(answer(table, "GET", "/dir/"), "slash");
  EXPECT_EQ(answer(table, "GET", "/dir"), "404");
}

TEST(RouteTable, GivesParametersInThePatternsOrderDecoded) {
  const RouteTable table({make_route("r", {}, "/{tenant}/x/{id}")});
  const auto path = std::get<NormalPath>(normalise_path("/a%20b/x/%C3%A9", false));
  const RouteAnswer given = table.match("GET", path);
  const auto& params = std::get<RouteMatch>(given).params;
  ASSERT_EQ(params.size(), 2u);
  EXPECT_EQ(params[0], (std::pair<std::string_view, std::string_view>{"tenant", "a b"}));
  EXPECT_EQ(params[1], (std::pair<std::string_view, std::string_view>{"id", "\xC3\xA9"}));
}

TEST(RouteTable, TheFirstMatchWins) {
  const RouteTable table({make_route("one", {"GET"}, "/{any}"), make_route("two", {}, "/a")});
  EXPECT_EQ(answer(table, "GET", "/a"), "one");
  EXPECT_EQ(answer(table, "POST", "/a"), "two");
}

TEST(RouteTable, AKeyedPathIsClosedForMethodsThatNoRouteLists) {
  const RouteTable table({make_route("book", {"POST"}, "/tools/book", Policy::Effectful),
                          make_route("set", {"PUT"}, "/tools/{id}", Policy::Idempotent),
                          make_route("see", {"GET"}, "/tools/{id}", Policy::ReadOnly),
                          make_route("all", {"DELETE", "GET"}, "/tools/*"),
                          make_route("rest", {}, "/*")});
  EXPECT_EQ(answer(table, "POST", "/tools/book"), "book");
  EXPECT_EQ(answer(table, "PUT", "/tools/book"), "set");
  EXPECT_EQ(answer(table, "GET", "/tools/book"), "see");
  EXPECT_EQ(answer(table, "DELETE", "/tools/book"), "405 POST, PUT, GET");
  EXPECT_EQ(answer(table, "PATCH", "/tools/book"), "405 POST, PUT, GET");
  EXPECT_EQ(answer(table, "post", "/tools/book"), "405 POST, PUT, GET");
  EXPECT_EQ(answer(table, "DELETE", "/tools/x/y"), "all");
  EXPECT_EQ(answer(table, "PATCH", "/elsewhere"), "rest");
}

TEST(RouteTable, AListedMethodOnTheSameWildcardCanBeReached) {
  const RouteTable table({make_route("pay", {"POST"}, "/pay/*", Policy::Effectful),
                          make_route("see", {"GET"}, "/pay/*", Policy::ReadOnly),
                          make_route("rest", {"GET", "DELETE"}, "/*")});
  EXPECT_EQ(answer(table, "GET", "/pay/1"), "see");
  EXPECT_EQ(answer(table, "DELETE", "/pay/1"), "405 POST, GET");
}

// RFC 9110 10.2.1: Allow lists the methods that the resource supports.
TEST(RouteTable, AllowNamesNoMethodThatIsRefusedForItself) {
  const RouteTable table({make_route("set", {"POST"}, "/tools/{id}", Policy::Effectful),
                          make_route("all", {}, "/tools/*", Policy::Idempotent)});
  EXPECT_EQ(answer(table, "PUT", "/tools/book"), "405 POST");
  EXPECT_EQ(answer(table, "GET", "/tools/book"), "405 POST");
  EXPECT_EQ(answer(table, "HEAD", "/tools/a/b"), "405 GET, POST, PUT, PATCH, DELETE");
}

TEST(RouteTable, HeadIsNeverKeyedUnlessListed) {
  const RouteTable table({make_route("book", {"POST"}, "/book", Policy::Effectful),
                          make_route("any", {}, "/any", Policy::Idempotent),
                          make_route("head", {"HEAD"}, "/head", Policy::Idempotent),
                          make_route("see", {"GET"}, "/see", Policy::ReadOnly),
                          make_route("put", {"PUT"}, "/put"), make_route("rest", {}, "/*")});
  EXPECT_EQ(answer(table, "HEAD", "/book"), "405 POST");
  EXPECT_EQ(answer(table, "HEAD", "/any"), "405 GET, POST, PUT, PATCH, DELETE");
  EXPECT_EQ(answer(table, "GET", "/any"), "any");
  EXPECT_EQ(answer(table, "HEAD", "/head"), "head");
  EXPECT_EQ(answer(table, "HEAD", "/see"), "see");  // RFC 9110 9.3.2: as GET without a body
  EXPECT_EQ(answer(table, "HEAD", "/put"), "rest");
}

TEST(RouteTable, OptionsGoToTheRoutesUpstream) {
  const RouteTable table(
      {make_route("book", {"POST"}, "/book", Policy::Effectful), make_route("rest", {}, "/*")});
  EXPECT_EQ(answer(table, "OPTIONS", "/book"), "book");
  EXPECT_EQ(answer(table, "OPTIONS", "/Book"), "rest");
}

TEST(RouteTable, DeniesByDefault) {
  const RouteTable table = booking_table();
  EXPECT_EQ(answer(table, "POST", "/"), "404");
  EXPECT_EQ(answer(table, "GET", "/tools/fare"), "404");
  EXPECT_EQ(answer(table, "GET", "/tools/book"), "405 POST");
}

TEST(RouteTable, CaseOrAFinalSlashCannotReachAWeakerRoute) {
  const RouteTable table({make_route("book", {"POST"}, "/tools/book", Policy::Effectful),
                          make_route("pay", {"POST"}, "/Pay/{id}/", Policy::Idempotent),
                          make_route("files", {"POST"}, "/files/*", Policy::Effectful),
                          make_route("rest", {}, "/*")});
  EXPECT_EQ(answer(table, "POST", "/Tools/book"), "400");
  EXPECT_EQ(answer(table, "POST", "/tools/book/"), "400");
  EXPECT_EQ(answer(table, "POST", "/TOOLS/BOOK/"), "400");
  EXPECT_EQ(answer(table, "GET", "/Tools/Book"), "400");
  EXPECT_EQ(answer(table, "POST", "/Pay/1"), "400");
  EXPECT_EQ(answer(table, "POST", "/pay/1/"), "400");
  EXPECT_EQ(answer(table, "POST", "/Files/a/b"), "400");
  EXPECT_EQ(answer(table, "POST", "/files"), "400");
  EXPECT_EQ(answer(table, "POST", "/tools/books"), "rest");
  EXPECT_EQ(answer(table, "POST", "/pay/1/2"), "rest");
  EXPECT_EQ(answer(booking_table(), "POST", "/Tools/Book"), "404");
}

TEST(RouteTable, ASpellingMayReachAnEquallyStrongRoute) {
  const RouteTable table({make_route("book", {"POST"}, "/tools/book", Policy::Effectful),
                          make_route("upper", {"POST"}, "/tools/BOOK", Policy::Effectful),
                          make_route("weaker", {"POST"}, "/tools/Book", Policy::Idempotent)});
  EXPECT_EQ(answer(table, "POST", "/tools/BOOK"), "upper");
  EXPECT_EQ(answer(table, "POST", "/tools/Book"), "400");
}

TEST(RouteTable, AMethodThatTheKeyedPathLeavesToOthersIsNotAmbiguous) {
  const RouteTable table({make_route("book", {"POST"}, "/tools/book", Policy::Effectful),
                          make_route("see", {"GET"}, "/tools/{id}", Policy::ReadOnly)});
  EXPECT_EQ(answer(table, "GET", "/tools/Book"), "see");
}

TEST(RouteTable, ShadowAndOffAddNoRefusal) {
  for (const Mode mode : {Mode::Shadow, Mode::Off}) {
    Route book = make_route("book", {"POST"}, "/book", Policy::Effectful);
    book.mode = mode;
    const RouteTable table({book, make_route("rest", {}, "/*")});
    EXPECT_EQ(answer(table, "POST", "/book"), "book");
    EXPECT_EQ(answer(table, "GET", "/book"), "rest");
    EXPECT_EQ(answer(table, "POST", "/Book"), "rest");
  }
}

TEST(RouteTable, LooseEscapesReachOnlyRoutesThatAllowEachOfThem) {
  Route loose = make_route("loose", {}, "/files/*");
  loose.allow_escapes = {"%2F", ";"};
  const RouteTable table({make_route("strict", {}, "/files/{id}"), loose});
  EXPECT_TRUE(table.any_loose());
  EXPECT_FALSE(booking_table().any_loose());
  EXPECT_EQ(answer(table, "GET", "/files/a"), "strict");
  EXPECT_EQ(answer(table, "GET", "/files/a%2fb"), "loose");
  EXPECT_EQ(answer(table, "GET", "/files/a;b"), "loose");
  EXPECT_EQ(answer(table, "GET", "/files/a%2541"), "400");
  EXPECT_EQ(answer(table, "GET", "/other/a%2fb"), "404");
}

TEST(RouteTable, KnowsTheHeadersThatKeyedRoutesRead) {
  using From = ValueSource::From;
  Route book = make_route("book", {"POST"}, "/book", Policy::Effectful);
  book.key.tenant = ValueSource{From::Header, "X-Tenant"};
  book.key.run = ValueSource{From::Header, "X-Run"};
  book.key.caller = ValueSource{From::AuthorizationDigest, ""};
  book.key.fields = {{From::Body, "/a"}, {From::Header, "x-tenant"}, {From::Header, "X-Seat"}};
  book.key.guards = {{From::Header, "X-Amount"}, {From::Query, "q"}};
  Route plain = make_route("plain", {}, "/plain");
  plain.key.tenant = ValueSource{From::Header, "X-Unread"};
  const RouteTable table({book, plain});
  EXPECT_EQ(table.headers_read(),
            (std::vector<std::string>{"X-Tenant", "X-Run", "Authorization", "X-Seat", "X-Amount"}));
}

struct ShadowRow {
  const char* name;
  Route earlier;
  Route later;
  bool shadowed;
};

TEST(RouteTable, UnreachableRoutesAreRecognised) {
  const auto keyed = Policy::Effectful;
  const ShadowRow rows[] = {
      {"the same", make_route("a", {"GET"}, "/a"), make_route("b", {"GET"}, "/a"), true},
      {"other path", make_route("a", {}, "/a"), make_route("b", {}, "/b"), false},
      {"other method", make_route("a", {"GET"}, "/a"), make_route("b", {"PUT"}, "/a"), false},
      {"one method more", make_route("a", {"GET"}, "/a"), make_route("b", {"GET", "PUT"}, "/a"),
       false},
      {"HEAD beside GET", make_route("a", {"GET"}, "/a"), make_route("b", {"HEAD"}, "/a"), true},
      {"wildcard first", make_route("a", {}, "/*"), make_route("b", {"POST"}, "/b", keyed), true},
      {"wildcard last", make_route("a", {}, "/b"), make_route("b", {}, "/*"), false},
      {"wildcard and its folder", make_route("a", {}, "/b/*"), make_route("b", {}, "/b"), false},
      {"parameter first", make_route("a", {}, "/{x}/c"), make_route("b", {}, "/b/c"), true},
      {"parameter and slash", make_route("a", {}, "/b/{x}"), make_route("b", {}, "/b/"), false},
      {"parameter and wildcard", make_route("a", {}, "/{x}"), make_route("b", {}, "/*"), false},
      {"keyed, then any method", make_route("a", {"POST"}, "/a", keyed), make_route("b", {}, "/a"),
       true},
      {"keyed, then a listed one", make_route("a", {"POST"}, "/a", keyed),
       make_route("b", {"GET"}, "/a"), false},
      {"keyed any, then HEAD", make_route("a", {}, "/a", keyed), make_route("b", {"HEAD"}, "/a"),
       false},
      {"plain, then any method", make_route("a", {"POST"}, "/a"), make_route("b", {}, "/a"), false},
      {"only OPTIONS", make_route("a", {"POST"}, "/a"), make_route("b", {"OPTIONS"}, "/a"), true},
  };
  for (const ShadowRow& row : rows)
    EXPECT_EQ(shadows(row.earlier, row.later), row.shadowed) << row.name;
  Route loose = make_route("b", {}, "/a/*");
  loose.allow_escapes = {"%2f"};
  EXPECT_FALSE(shadows(make_route("a", {}, "/a/*"), loose));
}

}  // namespace
}  // namespace semel
