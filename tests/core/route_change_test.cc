#include "core/route_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/route_pattern.h"

namespace semel {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using From = ValueSource::From;

Route make_route(std::string name, std::vector<std::string> methods, std::string pattern,
                 Policy policy) {
  Route route;
  route.name = std::move(name);
  route.methods = std::move(methods);
  route.pattern = std::move(pattern);
  route.segments = std::get<std::vector<PatternSegment>>(parse_pattern(route.pattern));
  route.policy = policy;
  route.file = "semel.yaml";
  route.line = 12;
  return route;
}

/// `book`, keyed and enforced, behind a route without policy and before a wildcard.
std::vector<Route> routes() {
  Route book = make_route("book", {"POST", "PUT"}, "/tools/{id}/*", Policy::Effectful);
  book.key.tenant = ValueSource{From::Header, "X-Tenant-Id"};
  book.key.run = ValueSource{From::Header, "X-Run-Id"};
  book.key.fields = {{From::Body, "/flight"}, {From::PathParam, "id"}};
  book.key.guards = {{From::Body, "/amount"}};
  book.key.caller = ValueSource{From::Header, "X-Caller"};
  book.key.client_key = ClientKey::Optional;
  book.key_version = 1;
  book.retention = std::chrono::hours(24);
  book.indeterminate_retention = std::chrono::hours(48);
  return {make_route("ping", {}, "/tools/{id}/ping", Policy::None), std::move(book),
          make_route("rest", {}, "/*", Policy::ReadOnly)};
}

constexpr std::size_t kBook = 1;

struct Change {
  const char* name;
  std::function<void(std::vector<Route>&)> change;
  std::vector<std::string> said;  ///< A part of each sentence, in order; empty: silence.
};
void PrintTo(const Change& row, std::ostream* out) { *out << row.name; }

class Weakening : public ::testing::TestWithParam<Change> {};

TEST_P(Weakening, IsSaidAloudAndStrengtheningIsNot) {
  std::vector<Route> after = routes();
  GetParam().change(after);
  std::vector<std::string> sentences;
  for (const RouteChange& change : weakened(terms_of(routes()), after)) {
    EXPECT_EQ(change.route, "book");
    EXPECT_THAT(change.sentence, HasSubstr("acknowledge it (serve --acknowledge book"));
    EXPECT_THAT(change.sentence, HasSubstr(", or restore "));
    sentences.push_back(change.sentence);
  }
  ASSERT_EQ(sentences.size(), GetParam().said.size()) << ::testing::PrintToString(sentences);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_THAT(sentences[i], HasSubstr(GetParam().said[i]));
  }
}

using Routes = std::vector<Route>;

Change of_book(const char* name, void (*change)(Route&), std::vector<std::string> said) {
  return {name, [change](Routes& routes) { change(routes[kBook]); }, std::move(said)};
}

void move_book_to(Route& book, std::string pattern) {
  book.segments = std::get<std::vector<PatternSegment>>(parse_pattern(pattern));
  book.pattern = std::move(pattern);
}

const Change kOfTheWhole[] = {
    of_book("Nothing", [](Route&) {}, {}),
    {"Removed",
     [](Routes& r) { r.erase(r.begin() + kBook); },
     {"is gone, and route ping takes its requests"}},
    {"RemovedAndNobodyElse",
     [](Routes& r) { r = {make_route("other", {"POST"}, "/other", Policy::Effectful)}; },
     {"route book: is gone: its calls are no longer known"}},
    of_book("Renamed", [](Route& r) { r.name = "reserve"; }, {"is gone, and route"}),
    of_book("Idempotent", [](Route& r) { r.policy = Policy::Idempotent; },
            {"the policy was EFFECTFUL and is IDEMPOTENT"}),
    of_book("ReadOnly", [](Route& r) { r.policy = Policy::ReadOnly; },
            {"the policy was EFFECTFUL and is READ_ONLY"}),
    of_book("NoPolicy", [](Route& r) { r.policy = Policy::None; },
            {"the policy was EFFECTFUL and is none"}),
    of_book("Off", [](Route& r) { r.mode = Mode::Off; }, {"the mode was enforce and is off"}),
    of_book("Shadow", [](Route& r) { r.mode = Mode::Shadow; },
            {"the mode was enforce and is shadow"}),
    of_book("ShorterRetention", [](Route& r) { r.retention = std::chrono::minutes(90); },
            {"the retention was 24h and is 90m"}),
    of_book("LongerRetention", [](Route& r) { r.retention = std::chrono::hours(25); }, {}),
    of_book("ShorterIndeterminateRetention",
            [](Route& r) { r.indeterminate_retention = std::chrono::hours(24); },
            {"indeterminate_retention was 2d and is 24h"}),
    of_book("IndeterminateForEver", [](Route& r) { r.indeterminate_retention.reset(); }, {}),
    of_book("AnotherUpstream", [](Route& r) { r.upstream_name = "else"; }, {}),
    of_book("LongerTimeout", [](Route& r) { r.timeout *= 2; }, {}),
};
INSTANTIATE_TEST_SUITE_P(OfTheRoute, Weakening, ::testing::ValuesIn(kOfTheWhole),
                         [](const auto& row) { return row.param.name; });

const Change kOfTheKey[] = {
    of_book("Tenant", [](Route& r) { r.key.tenant->text = "X-Account"; },
            {"key: tenant was header x-tenant-id and is header x-account"}),
    of_book("CaseOfTheTenantsHeader", [](Route& r) { r.key.tenant->text = "x-TENANT-id"; }, {}),
    of_book("NoRun", [](Route& r) { r.key.run.reset(); },
            {"key: run was header x-run-id and is none"}),
    of_book("OneFieldLess", [](Route& r) { r.key.fields.pop_back(); }, {"key: fields was "}),
    of_book("WholeRequest", [](Route& r) { r.key.fields.clear(); }, {"and is the whole request"}),
    of_book("FieldsInAnotherOrder", [](Route& r) { std::swap(r.key.fields[0], r.key.fields[1]); },
            {}),
    of_book("PathOfTheRoute", [](Route& r) { r.key.path = PathInKey::Route; },
            {"key: path was concrete and is route"}),
    of_book("RaisedVersion", [](Route& r) { r.key_version = 2; }, {}),
    of_book("RaisedVersionOfAnotherRecipe",
            [](Route& r) {
              r.key_version = 2;
              r.key.run.reset();
            },
            {}),
    of_book("LowerVersion", [](Route& r) { r.key_version = 0; }, {"key: version was 1 and is 0"}),
    of_book("NoVersion", [](Route& r) { r.key_version.reset(); },
            {"key: version was 1 and is none"}),
    of_book("ClientKeyIgnored", [](Route& r) { r.key.client_key = ClientKey::Ignore; },
            {"client_key was optional and is ignore"}),
    of_book("ClientKeyRequired", [](Route& r) { r.key.client_key = ClientKey::Required; }, {}),
    // A record that is bound to other guards or another caller refuses; it never frees its key.
    of_book("NoGuards", [](Route& r) { r.key.guards.clear(); }, {}),
    of_book("AnotherCaller", [](Route& r) { r.key.caller.reset(); }, {}),
    of_book("StableTenant", [](Route& r) { r.key.tenant->stable = true; }, {}),
};
INSTANTIATE_TEST_SUITE_P(OfTheKey, Weakening, ::testing::ValuesIn(kOfTheKey),
                         [](const auto& row) { return row.param.name; });

const Change kOfTheRequests[] = {
    of_book("OneMethodLess", [](Route& r) { r.methods = {"POST"}; }, {"no longer takes PUT"}),
    of_book("OneMethodMore", [](Route& r) { r.methods.emplace_back("PATCH"); }, {}),
    of_book("NarrowerPattern", [](Route& r) { move_book_to(r, "/tools/{id}/book"); },
            {"the pattern was /tools/{id}/* and is /tools/{id}/book"}),
    of_book("WiderPattern", [](Route& r) { move_book_to(r, "/{kind}/{id}/*"); }, {}),
    of_book("ParameterAtAnotherPlace", [](Route& r) { move_book_to(r, "/{id}/{kind}/*"); },
            {"key: fields was"}),
    {"AnEarlierRouteTakesAPart",
     [](Routes& r) {
       r.insert(r.begin(), make_route("cancel", {"PUT"}, "/tools/{id}/cancel", Policy::None));
     },
     {"route cancel, which stands before it, now takes PUT of /tools/{id}/cancel"}},
    {"AnEarlierStrongerRouteTakesAPart",
     [](Routes& r) {
       r.insert(r.begin(), make_route("vip", {"POST"}, "/{kind}/vip/*", Policy::Effectful));
     },
     {"route vip, which stands before it, now takes POST of /{kind}/vip/*"}},
    {"AnEarlierRouteOfOtherMethods",
     [](Routes& r) {
       r.insert(r.begin(), make_route("list", {"GET"}, "/tools/{id}/*", Policy::None));
     },
     {}},
    {"AnEarlierRouteOfOtherPaths",
     [](Routes& r) { r.insert(r.begin(), make_route("list", {}, "/other/*", Policy::None)); },
     {}},
    {"AnEarlierRouteOfWhatAnEarlierOneTookBefore",
     [](Routes& r) { r.insert(r.begin(), make_route("pong", {}, "/tools/7/ping", Policy::None)); },
     {}},
    {"TheEarlierRouteIsWider",
     [](Routes& r) {
       r[0].segments = std::get<std::vector<PatternSegment>>(parse_pattern("/tools/{id}/{what}"));
     },
     {"route ping, which stands before it, now takes POST, PUT"}},
    {"TheWildcardComesFirst",
     [](Routes& r) { std::swap(r[0], r[2]); },
     {"route rest, which stands before it, now takes POST, PUT of /*"}},
    {"ALaterRoute",
     [](Routes& r) { r.push_back(make_route("late", {"POST"}, "/tools/*", Policy::None)); },
     {}},
};
INSTANTIATE_TEST_SUITE_P(OfTheRequests, Weakening, ::testing::ValuesIn(kOfTheRequests),
                         [](const auto& row) { return row.param.name; });

TEST(RouteChanges, WhereNoKeyWasPromisedNothingCanBeFreed) {
  for (const Mode mode : {Mode::Off, Mode::Shadow}) {
    std::vector<Route> before = routes();
    before[kBook].mode = mode;
    EXPECT_THAT(weakened(terms_of(before), {routes()[0]}), IsEmpty());
  }
  EXPECT_THAT(weakened({}, routes()), IsEmpty());
}

TEST(RouteChanges, WhereAClientsKeyWasRequiredNothingWasDerived) {
  std::vector<Route> before = routes();
  before[kBook].key.client_key = ClientKey::Required;
  std::vector<Route> after = before;
  after[kBook].key.run.reset();
  after[kBook].key.fields.clear();
  EXPECT_THAT(weakened(terms_of(before), after), IsEmpty());
  after[kBook].key.tenant = ValueSource{From::Constant, "acme"};
  EXPECT_EQ(weakened(terms_of(before), after).size(), 1u);
}

TEST(RouteChanges, APatternThatIsInTheKeyMayNotEvenGrow) {
  std::vector<Route> before = routes();
  before[kBook].key.path = PathInKey::Route;
  std::vector<Route> after = before;
  move_book_to(after[kBook], "/{kind}/{id}/*");
  const auto changes = weakened(terms_of(before), after);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_THAT(changes[0].sentence, HasSubstr("which is in the key (path: route)"));
}

TEST(RouteChanges, ASentenceSaysWhatWhyAndWhatToDo) {
  std::vector<Route> after = routes();
  after[kBook].mode = Mode::Off;
  EXPECT_THAT(objections(weakened(terms_of(routes()), after), {}),
              ElementsAre("semel.yaml:12: route book: the mode was enforce and is off: a repeat of "
                          "an earlier call is no longer held back and runs again; acknowledge it "
                          "(serve --acknowledge book, or POST /-/reload?acknowledge=book) once "
                          "its last calls are older than one retention (24h), or restore mode: "
                          "enforce"));
}

TEST(RouteChanges, WhatWasDerivedBeforeAKeyWasRequiredIsNotFreedInTwoSilentSteps) {
  std::vector<Route> step = routes();
  const auto said = [&](const std::function<void(Route&)>& change) {
    const std::vector<RouteTerms> before = terms_of(step);
    change(step[kBook]);
    std::size_t sentences = 0;
    for (const RouteChange& each : weakened(before, step)) sentences += each.route == "book";
    return sentences;
  };
  EXPECT_EQ(said([](Route& r) { r.key.client_key = ClientKey::Required; }), 0u);
  EXPECT_EQ(said([](Route& r) { r.key.run = ValueSource{From::Header, "X-B"}; }), 0u);
  EXPECT_EQ(said([](Route& r) { r.key.client_key = ClientKey::Optional; }), 1u);
}

TEST(RouteChanges, AcknowledgedOnesAreNoObjection) {
  std::vector<Route> after = routes();
  after[kBook].mode = Mode::Off;
  EXPECT_THAT(objections(weakened(terms_of(routes()), after), {"book"}), IsEmpty());
}

TEST(RouteChanges, AnAcknowledgementOfNothingIsAnObjection) {
  EXPECT_THAT(objections({}, {"book"}),
              ElementsAre(HasSubstr("acknowledge book: no change of a route called book")));
}

struct Meeting {
  const char* a;
  const char* b;
  const char* common;  ///< Its shape, `{}` for a parameter; null: none.
};

std::string shape(const std::vector<PatternSegment>& segments) {
  std::string text;
  for (const PatternSegment& segment : segments) {
    text += '/';
    if (segment.kind == PatternSegment::Kind::Literal) text += segment.text;
    if (segment.kind == PatternSegment::Kind::Param) text += "{}";
    if (segment.kind == PatternSegment::Kind::Rest) text += '*';
  }
  return text;
}

TEST(PatternMeet, IsThePathsOfBoth) {
  const Meeting kMeetings[] = {
      {"/a/b", "/a/b", "/a/b"},   {"/a/{x}", "/{y}/b", "/a/b"},   {"/a/*", "/a/{x}", "/a/{}"},
      {"/a/*", "/*", "/a/*"},     {"/a/*", "/{x}/b/*", "/a/b/*"}, {"/a/*", "/a/", "/a/"},
      {"/a/b", "/a/c", nullptr},  {"/a/*", "/a", nullptr},        {"/a", "/a/b", nullptr},
      {"/a/{x}", "/a/", nullptr}, {"/a/*", "/b/*", nullptr},
  };
  for (const Meeting& row : kMeetings) {
    const auto a = std::get<std::vector<PatternSegment>>(parse_pattern(row.a));
    const auto b = std::get<std::vector<PatternSegment>>(parse_pattern(row.b));
    for (const auto& common : {pattern_meet(a, b), pattern_meet(b, a)}) {
      ASSERT_EQ(common.has_value(), row.common != nullptr) << row.a << " and " << row.b;
      if (common) EXPECT_EQ(shape(*common), row.common) << row.a << " and " << row.b;
    }
  }
}

}  // namespace
}  // namespace semel
