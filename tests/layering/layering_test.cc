// The house reads itself: every source file against ARCHITECTURE.md and CONTRIBUTING.md. Each rule
// has a bad example below, because a rule that cannot fail is no rule.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/layering/house_rules.h"
#include "tests/layering/shape_rules.h"
#include "tests/layering/source_file.h"

namespace semel::layering {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Rule = Complaints (*)(const SourceFile&);

const std::vector<SourceFile>& tree() {
  static const std::vector<SourceFile> files = read_tree(SEMEL_SOURCE_DIR);
  return files;
}

struct Case {
  std::string name;
  Rule rule;
  SourceFile bad;
  std::string cure;  ///< Words that the complaint contains.
  SourceFile good;
};

void PrintTo(const Case& row, std::ostream* out) { *out << row.name; }

std::string lines(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text + '\n';
  return all;
}

std::vector<Case> arrow_cases() {
  return {
      {"ArrowFromCoreToIo",
       undrawn_arrows,
       {"core/a.cc", "#include \"io/task.h\"\n"},
       "no arrow leads to io/task.h",
       {"io/a.cc", "#include \"core/key.h\"\n"}},
      {"ArrowFromConfigToStores",
       undrawn_arrows,
       {"config/a.h", "#include \"stores/store.h\"\n"},
       "no arrow leads to stores/store.h",
       {"proxy/main.cc", "#include \"stores/store.h\"\n#include \"config/load.h\"\n"}},
      {"ArrowIntoTheTests",
       undrawn_arrows,
       {"proxy/a.cc", "#include \"tests/support/tool.h\"\n"},
       "no arrow leads to tests/support/tool.h",
       {"tests/proxy/a_test.cc", "#include \"tests/support/tool.h\"\n"}},
      {"IncludeWithoutItsRoom",
       undrawn_arrows,
       {"core/a.cc", "#include \"key.h\"\n"},
       "names its room",
       {"core/a.cc", "#include \"core/key.h\"\n"}},
  };
}

std::vector<Case> third_party_cases() {
  return {
      {"AsioInTheCore",
       strangers,
       {"core/a.cc", "#include <boost/asio/awaitable.hpp>\n"},
       "private to another room",
       {"io/a.cc", "#include <boost/asio/awaitable.hpp>\n"}},
      {"AsioInTheConfiguration",
       strangers,
       {"config/a.cc", "#include <boost/asio.hpp>\n"},
       "private to another room",
       {"stores/a.cc", "#include <boost/asio/post.hpp>\n"}},
      {"BeastOutsideTheProxy",
       strangers,
       {"stores/a.h", "#include <boost/beast/http/parser.hpp>\n"},
       "private to another room",
       {"proxy/a.cc", "#include <boost/beast/http/parser.hpp>\n"}},
      {"YamlOutsideTheConfiguration",
       strangers,
       {"proxy/a.cc", "#include <yaml-cpp/yaml.h>\n"},
       "private to another room",
       {"config/a.cc", "#include <yaml-cpp/yaml.h>\n"}},
      {"SqliteOutsideTheStores",
       strangers,
       {"proxy/a.cc", "#include <sqlite3.h>\n"},
       "private to another room",
       {"stores/a.cc", "#include <sqlite3.h>\n"}},
      {"DigestsOutsideTheCore",
       strangers,
       {"proxy/a.cc", "#include <openssl/evp.h>\n"},
       "private to another room",
       {"io/a.cc", "#include <openssl/ssl.h>\n"}},
      {"IcuOutsideTheCore",
       strangers,
       {"config/a.cc", "#include <unicode/normalizer2.h>\n"},
       "private to another room",
       {"core/a.cc", "#include <unicode/normalizer2.h>\n"}},
      {"PrometheusOutsideTheProxy",
       strangers,
       {"stores/a.cc", "#include <prometheus/counter.h>\n"},
       "private to another room",
       {"proxy/a.cc", "#include <prometheus/counter.h>\n"}},
      {"ThreadsInTheCore",
       strangers,
       {"core/a.cc", "#include <mutex>\n"},
       "private to another room",
       {"stores/a.cc", "#include <mutex>\n"}},
      {"AnUnlistedLibrary",
       strangers,
       {"proxy/a.cc", "#include <fmt/format.h>\n"},
       "new dependency",
       {"proxy/a.cc", "#include <vector>\n"}},
  };
}

std::vector<Case> text_cases() {
  const std::string mark = std::string("TO") + "DO";
  const std::string folder = std::string("/ho") + "me/me/semel";
  return {
      {"AClockInTheCore",
       clocks_in_the_core,
       {"core/a.cc", "const auto now = std::chrono::steady_clock::now();\n"},
       "take the time as an argument",
       {"proxy/a.cc", "const auto now = std::chrono::steady_clock::now();\n"}},
      {"AHeaderWithoutGuard",
       headers_without_guard,
       {"core/a.h", "#include <string>\n"},
       "#pragma once",
       {"core/a.h", "#pragma once\n"}},
      {"ALongSource",
       outgrown_files,
       {"core/a.cc", lines(401, "int x;")},
       "missing noun",
       {"core/a.cc", lines(400, "int x;")}},
      {"ALongHeader",
       outgrown_files,
       {"core/a.h", lines(201, "int x;")},
       "missing noun",
       {"core/a.h", lines(200, "int x;")}},
      {"ALongFunction",
       outgrown_functions,
       {"core/a.cc", "int f(int a,\n      int b) {\n" + lines(68, "  x();") + "}\n"},
       "give its steps names",
       {"core/a.cc",
        "namespace n {\nint f() {\n" + lines(34, "  case 1:\n    x();\n    y();") + "}\n}\n"}},
      {"AMarkOfUnfinishedWork",
       unfinished_marks,
       {"docs/a.md", "one\n" + mark + ": two\n"},
       "docs/a.md:2: ",
       {"docs/a.md", "MAS" + mark + "N\n"}},
      {"AFolderOfOneMachine",
       machine_paths,
       {"scripts/a", "cd " + folder + "\n"},
       "relative to the root",
       {"scripts/a", "curl http://tool" + folder + "\n"}},
  };
}

class EveryRule : public ::testing::TestWithParam<Case> {};

TEST_P(EveryRule, ComplainsOfTheBadExampleAndNamesTheCure) {
  EXPECT_THAT(GetParam().rule(GetParam().bad), ElementsAre(HasSubstr(GetParam().cure)));
}

TEST_P(EveryRule, LeavesTheGoodExampleAlone) {
  EXPECT_THAT(GetParam().rule(GetParam().good), IsEmpty());
}

std::string name_of(const ::testing::TestParamInfo<Case>& row) { return row.param.name; }
INSTANTIATE_TEST_SUITE_P(Arrows, EveryRule, ::testing::ValuesIn(arrow_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(ThirdParties, EveryRule, ::testing::ValuesIn(third_party_cases()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Texts, EveryRule, ::testing::ValuesIn(text_cases()), name_of);

TEST(Crowding, TheFileTooManyIsNamed) {
  const std::vector<SourceFile> files{{"stores/a.cc", "#include <sqlite3.h>\n"},
                                      {"stores/b.cc", "#include <sqlite3.h>\n"},
                                      {"tests/stores/a_test.cc", "#include <sqlite3.h>\n"}};
  EXPECT_THAT(crowding(files, "sqlite3.h", 2), IsEmpty());
  EXPECT_THAT(crowding(files, "sqlite3.h", 1), ElementsAre(HasSubstr("stores/a.cc stores/b.cc")));
}

TEST(SourceTree, IsReadWhole) {
  std::vector<std::string> paths;
  for (const SourceFile& file : tree()) paths.push_back(file.path);
  for (const char* path :
       {"core/key.h", "io/task.h", "config/load.h", "stores/store.h", "proxy/main.cc",
        "tests/layering/layering_test.cc", "README.md", "scripts/run", ".ci/run"}) {
    EXPECT_THAT(paths, Contains(path));
  }
}

struct HouseRule {
  std::string name;
  Rule rule;
};

void PrintTo(const HouseRule& row, std::ostream* out) { *out << row.name; }

class House : public ::testing::TestWithParam<HouseRule> {};

TEST_P(House, Keeps) {
  for (const SourceFile& file : tree()) {
    for (const std::string& complaint : GetParam().rule(file)) ADD_FAILURE() << complaint;
  }
}

INSTANTIATE_TEST_SUITE_P(Layering, House,
                         ::testing::Values(HouseRule{"OnlyDrawnArrows", undrawn_arrows},
                                           HouseRule{"ThirdPartiesInTheirRoom", strangers},
                                           HouseRule{"NoClockInTheCore", clocks_in_the_core},
                                           HouseRule{"PragmaOnce", headers_without_guard},
                                           HouseRule{"FilesOfReadableSize", outgrown_files},
                                           HouseRule{"FunctionsOfReadableSize", outgrown_functions},
                                           HouseRule{"NoMarksOfUnfinishedWork", unfinished_marks},
                                           HouseRule{"NoFoldersOfOneMachine", machine_paths}),
                         [](const auto& row) { return row.param.name; });

TEST(HouseLimits, BeastIsCompiledInFourFilesAtMost) {
  EXPECT_THAT(crowding(tree(), "boost/beast", 4), IsEmpty());
}

TEST(HouseLimits, EachStoreLibraryIsKnownToOneFile) {
  EXPECT_THAT(crowding(tree(), "sqlite3.h", 1), IsEmpty());
  EXPECT_THAT(crowding(tree(), "hiredis/", 1), IsEmpty());
  EXPECT_THAT(crowding(tree(), "libpq-fe.h", 1), IsEmpty());
}

}  // namespace
}  // namespace semel::layering
