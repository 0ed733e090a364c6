#include "proxy/records_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace semel::proxy {
namespace {

using ::testing::HasSubstr;
using Verb = RecordsOptions::Verb;

RecordsOptions options_of(const std::vector<std::string>& words) {
  auto parsed = parse_records_options(words);
  const auto* sentence = std::get_if<std::string>(&parsed);
  EXPECT_EQ(sentence, nullptr) << *sentence;
  return sentence == nullptr ? std::get<RecordsOptions>(std::move(parsed)) : RecordsOptions{};
}

std::string sentence_of(const std::vector<std::string>& words) {
  const auto parsed = parse_records_options(words);
  const auto* sentence = std::get_if<std::string>(&parsed);
  return sentence == nullptr ? "taken" : *sentence;
}

TEST(RecordsOptions, AreReadInAnyOrder) {
  const RecordsOptions list = options_of(
      {"list", "--json", "--tenant", "a b", "--config", "c.yaml", "--state", "completed"});
  EXPECT_EQ(list.verb, Verb::List);
  EXPECT_TRUE(list.json);
  EXPECT_EQ(list.tenant, "a b");
  EXPECT_EQ(list.state, "completed");
  EXPECT_EQ(list.config, "c.yaml");
  const RecordsOptions resolve = options_of({"resolve", "--note", "seen", "ab12", "--config",
                                             "c.yaml", "happened", "--response", "r.json"});
  EXPECT_EQ(resolve.verb, Verb::Resolve);
  EXPECT_EQ(resolve.subject, "ab12");
  EXPECT_EQ(resolve.decision, "happened");
  EXPECT_EQ(resolve.note, "seen");
  EXPECT_EQ(resolve.response, "r.json");
  EXPECT_EQ(resolve.author, std::nullopt);
  const RecordsOptions forget =
      options_of({"forget", "acme", "--operator", "kim", "--config", "c.yaml"});
  EXPECT_EQ(forget.verb, Verb::Forget);
  EXPECT_EQ(forget.subject, "acme");
  EXPECT_EQ(forget.author, "kim");
  EXPECT_EQ(options_of({"show", "ab12", "--config", "c.yaml"}).verb, Verb::Show);
}

TEST(RecordsOptions, WhatIsWrongIsNamed) {
  EXPECT_THAT(sentence_of({}), HasSubstr("list, show, resolve or forget"));
  EXPECT_THAT(sentence_of({"lst"}), HasSubstr("list, show, resolve or forget"));
  EXPECT_THAT(sentence_of({"list"}), HasSubstr("--config CONFIG is missing"));
  EXPECT_THAT(sentence_of({"list", "--config"}), HasSubstr("--config wants a value"));
  EXPECT_THAT(sentence_of({"list", "x", "--config", "c"}), HasSubstr("0 words"));
  EXPECT_THAT(sentence_of({"show", "--config", "c"}), HasSubstr("1 words"));
  EXPECT_THAT(sentence_of({"show", "a", "--state", "completed", "--config", "c"}),
              HasSubstr("no option --state"));
  EXPECT_THAT(sentence_of({"forget", "a", "--response", "f", "--config", "c"}),
              HasSubstr("no option --response"));
  EXPECT_THAT(sentence_of({"resolve", "a", "--config", "c"}), HasSubstr("2 words"));
  EXPECT_THAT(sentence_of({"resolve", "a", "yes", "--config", "c"}),
              HasSubstr("happened or did_not_happen"));
}

}  // namespace
}  // namespace semel::proxy
