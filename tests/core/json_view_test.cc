#include "core/json_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json_reader.h"

namespace semel {
namespace {

using ::testing::ElementsAre;

class JsonViewTest : public ::testing::Test {
 protected:
  JsonView read(std::string text) {
    text_ = std::move(text);
    EXPECT_FALSE(read_json(text_, tape_));
    return JsonView(tape_);
  }
  std::string text_;
  ValueTape tape_;
};

TEST_F(JsonViewTest, ShowsMembersAndItemsInTheirOrder) {
  const JsonView body = read(R"({"b": [1.50, "x", [], {}], "a": {"c": null}, "": true})");
  ASSERT_EQ(body.kind(), ValueKind::Object);
  std::vector<std::string> names;
  for (const auto& [name, value] : body.members()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("b", "a", ""));
  std::vector<std::string> items;
  for (const JsonView& item : body.member("b")->items()) items.push_back(item.text());
  EXPECT_THAT(items, ElementsAre("1.50", "x", "", ""));
  EXPECT_EQ(body.member("a")->member("c")->kind(), ValueKind::Null);
  EXPECT_EQ(body.member("")->kind(), ValueKind::True);
  EXPECT_FALSE(body.member("c"));
  EXPECT_FALSE(body.member("a")->member("c")->member("d"));
  EXPECT_TRUE(body.items().empty());
}

TEST_F(JsonViewTest, TextsAreAsTheyWereWrittenAndNotInNfc) {
  // Only a key is made of NFC; bytes that are kept and replayed are the sender's.
  const JsonView body = read("[\"e\xCC\x81\", \"e\\u0301\\n\\\"\", \"\\ud83d\\ude00\"]");
  const std::vector<JsonView> items = body.items();
  ASSERT_EQ(items.size(), 3U);
  EXPECT_EQ(items[0].text(), "e\xCC\x81");
  EXPECT_EQ(items[1].text(), "e\xCC\x81\n\"");
  EXPECT_EQ(items[2].text(), "\xF0\x9F\x98\x80");
}

}  // namespace
}  // namespace semel
