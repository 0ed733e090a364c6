// Expected values: RFC 8941, section 3.3.3, narrowed by spec 5.
#include "core/client_key.h"

#include <gtest/gtest.h>

#include <string>

namespace semel {
namespace {

TEST(ClientKey, QuotedAndBareAreOneKey) {
  EXPECT_EQ(read_client_key("\"abc\""), "abc");
  EXPECT_EQ(read_client_key("abc"), "abc");
}

TEST(ClientKey, TakesWhatClientsSend) {
  for (const std::string key : {"8e03978e-40d5-43e8-bc93-6894a57f9324", "order/42", "a=b", "a,b",
                                "AZaz09!#$%&'()*+-.:<>?@[]^_`{|}~", "x"}) {
    EXPECT_EQ(read_client_key(key), key);
    EXPECT_EQ(read_client_key('"' + key + '"'), key);
  }
  EXPECT_EQ(read_client_key(R"("a\"b\\c")"), R"(a"b\c)");
  EXPECT_EQ(read_client_key(R"(a\b)"), R"(a\b)");
  EXPECT_EQ(read_client_key(R"("a;b")"), "a;b");
}

TEST(ClientKey, RefusesWhatCouldMeanTwoThings) {
  struct Row {
    const char* name;
    std::string_view value;
  };
  const Row rows[] = {
      {"empty", ""},
      {"empty string", "\"\""},
      {"one quote", "\""},
      {"quote not closed", "\"abc"},
      {"quote not opened", "abc\""},
      {"quote inside", "a\"b"},
      {"quote inside quotes", "\"a\"b\""},
      {"closing quote escaped", "\"abc\\\""},
      {"unknown escape", "\"a\\bc\""},
      {"space", "a b"},
      {"space in quotes", "\"a b\""},
      {"space only", "\" \""},
      {"parameter", "abc;p=1"},
      {"parameter of a string", "\"abc\";p=1"},
      {"two strings", "\"a\", \"b\""},
      {"control", "a\tb"},
      {"NUL", std::string_view("a\0b", 3)},
      {"DEL", "a\x7f"},
      {"beyond ASCII", "\xC3\xA9"},
  };
  for (const Row& row : rows) EXPECT_FALSE(read_client_key(row.value)) << row.name;
}

TEST(ClientKey, TwoHundredAndFiftyFiveCharactersAndNoMore) {
  const std::string longest(255, 'k');
  EXPECT_EQ(read_client_key(longest), longest);
  EXPECT_EQ(read_client_key('"' + longest + '"'), longest);
  EXPECT_FALSE(read_client_key(longest + "k"));
  EXPECT_FALSE(read_client_key('"' + longest + "k\""));
}

}  // namespace
}  // namespace semel
