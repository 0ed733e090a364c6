// What an operator may order: spec 11. Refused whole where it can be read in two ways.
#include "proxy/resolve_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel::proxy {
namespace {

using ::testing::HasSubstr;

ResolveOrder order_of(std::string_view json) {
  auto read = read_resolve_order(json);
  const auto* wrong = std::get_if<std::string>(&read);
  EXPECT_EQ(wrong, nullptr) << *wrong;
  return wrong == nullptr ? std::get<ResolveOrder>(std::move(read)) : ResolveOrder{};
}

std::string wrong_with(std::string_view json) {
  auto read = read_resolve_order(json);
  const auto* wrong = std::get_if<std::string>(&read);
  return wrong == nullptr ? "taken" : *wrong;
}

TEST(ResolveOrder, SaysWhatHappenedWhoSaysSoAndWhy) {
  const ResolveOrder order =
      order_of(R"({"note":"seen in the ledger, \"B-7\"","decision":"happened","operator":"kim"})");
  EXPECT_EQ(order.resolution.decision, Resolution::Decision::Happened);
  EXPECT_EQ(order.resolution.response, nullptr);
  EXPECT_EQ(order.note, "seen in the ledger, \"B-7\"");
  EXPECT_EQ(order.operator_name, "kim");
  EXPECT_EQ(order_of(R"({"decision":"did_not_happen"})").resolution.decision,
            Resolution::Decision::DidNotHappen);
}

TEST(ResolveOrder, BringsTheAnswerThatLaterCallersGet) {
  const ResolveOrder order = order_of(
      R"({"decision":"happened","response":{"status":201,"headers":[["Content-Type","text/plain"],)"
      R"(["X-Twice","1"],["x-twice"," 2 "]],"body":"e\u0301"}})");
  const StoredResponse& response = *order.resolution.response;
  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.kept, BodyKept::Kept);
  EXPECT_EQ(response.fields.text(), "Content-Type: text/plain\r\nX-Twice: 1\r\nx-twice: 2\r\n");
  EXPECT_EQ(response.body, "e\xCC\x81") << "as it was written, not in NFC";
}

TEST(ResolveOrder, ABodyOfAnyBytesComesInBase64) {
  const ResolveOrder order =
      order_of(R"({"decision":"happened","response":{"status":200,"body_base64":"AP/+Cg=="}})");
  EXPECT_EQ(order.resolution.response->body, std::string("\x00\xFF\xFE\n", 4));
}

TEST(ResolveOrder, WhatNoReplayHasIsLeftOut) {
  // Spec 8: not stored are hop-by-hop fields, Set-Cookie, Date, framing and Semel's own names.
  const ResolveOrder order = order_of(
      R"({"decision":"happened","response":{"status":200,"headers":[["Date","x"],["X-A","1"],)"
      R"(["Set-Cookie","a=b"],["content-length","9"],["Transfer-Encoding","chunked"],)"
      R"(["Connection","close"],["Idempotency-Status","executed"]]}})");
  EXPECT_EQ(order.resolution.response->fields.text(), "X-A: 1\r\n");
}

struct Row {
  const char* name;
  const char* json;
  const char* sentence;
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class WrongOrder : public ::testing::TestWithParam<Row> {};

TEST_P(WrongOrder, IsRefusedWithItsReason) {
  EXPECT_THAT(wrong_with(GetParam().json), HasSubstr(GetParam().sentence));
}

constexpr Row kRows[] = {
    {"NoBody", "", "The body has"},
    {"NoJson", "{decision:1}", "The body has"},
    {"NoObject", R"(["happened"])", "must be a JSON object"},
    {"ARepeatedMember", R"({"decision":"happened","decision":"did_not_happen"})",
     "duplicate member name"},
    {"AnUnknownMember", R"({"decision":"happened","respnse":{}})", "respnse"},
    {"NoDecision", "{}", "\"decision\" must be"},
    {"AnotherDecision", R"({"decision":"maybe"})", "\"decision\" must be"},
    {"ADecisionThatIsNoString", R"({"decision":true})", "\"decision\" must be"},
    {"ANoteThatIsNoString", R"({"decision":"happened","note":1})", "\"note\" must be a string"},
    {"ANoteOfTwoLines", R"({"decision":"happened","note":"a\nb"})", "control characters"},
    {"AnOperatorWithDelete", R"({"decision":"happened","operator":"a\u007f"})",
     "control characters"},
    {"AResponseOfWhatDidNotHappen", R"({"decision":"did_not_happen","response":{"status":200}})",
     "did not happen"},
    {"AResponseThatIsNull", R"({"decision":"happened","response":null})", "\"response\" must be"},
    {"AnUnknownMemberOfTheResponse",
     R"({"decision":"happened","response":{"status":200,"code":1}})", "code"},
    {"NoStatus", R"({"decision":"happened","response":{}})", "\"status\" must be"},
    {"AnInterimStatus", R"({"decision":"happened","response":{"status":103}})",
     "\"status\" must be"},
    {"AStatusThatIsNone", R"({"decision":"happened","response":{"status":600}})",
     "\"status\" must be"},
    {"AFractionalStatus", R"({"decision":"happened","response":{"status":200.0}})",
     "\"status\" must be"},
    {"AQuotedStatus", R"({"decision":"happened","response":{"status":"200"}})",
     "\"status\" must be"},
    {"HeadersAsAnObject",
     R"({"decision":"happened","response":{"status":200,"headers":{"a":"b"}}})", "array of"},
    {"AHeaderOfThree",
     R"({"decision":"happened","response":{"status":200,"headers":[["a","b","c"]]}})", "array of"},
    {"AHeaderThatIsNoToken",
     R"({"decision":"happened","response":{"status":200,"headers":[["a b","c"]]}})", "no name"},
    {"ASplitHeader",
     R"({"decision":"happened","response":{"status":200,"headers":[["a","b\r\nc: d"]]}})",
     "control characters"},
    {"ASplitHeaderThatWouldNotBeStored",
     R"({"decision":"happened","response":{"status":200,"headers":[["Date","b\nc"]]}})",
     "control characters"},
    {"TwoBodies",
     R"({"decision":"happened","response":{"status":200,"body":"a","body_base64":"YQ=="}})",
     "not both"},
    {"ABodyThatIsAnObject", R"({"decision":"happened","response":{"status":200,"body":{}}})",
     "\"body\" must be a string"},
    {"NoBase64", R"({"decision":"happened","response":{"status":200,"body_base64":"YQ"}})",
     "base64"},
    {"ABodyWithoutContent", R"({"decision":"happened","response":{"status":204,"body":"a"}})",
     "has no body"},
};
INSTANTIATE_TEST_SUITE_P(Orders, WrongOrder, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ResolveOrder, ANoteFitsIntoALineOfTheLog) {
  const auto with_note = [](std::size_t bytes) {
    return R"({"decision":"happened","note":")" + std::string(bytes, 'x') + "\"}";
  };
  EXPECT_EQ(order_of(with_note(500)).note.size(), 500U);
  EXPECT_THAT(wrong_with(with_note(501)), HasSubstr("too long"));
}

}  // namespace
}  // namespace semel::proxy
