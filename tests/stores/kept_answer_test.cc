#include "stores/kept_answer.h"

#include <gtest/gtest.h>

namespace semel {
namespace {

StoredResponsePtr answer_of(std::size_t body_bytes) {
  auto response = std::make_shared<StoredResponse>();
  response->status = 418;
  response->unframed = true;
  response->fields = {{"A", "1"}, {"A", ""}};
  response->body.assign(body_bytes, '\0');
  return response;
}

TEST(KeptAnswer, AnyAnswerComesBackAsItWas) {
  for (const std::size_t body_bytes : {0, 1, 300, 4'083, 4'084, 4'085, 100'000}) {
    const StoredResponsePtr response = answer_of(body_bytes);
    const KeptAnswer kept(response);
    EXPECT_EQ(*kept.unpack(), *response) << body_bytes;
    EXPECT_EQ(kept.bytes(), body_bytes + 11) << body_bytes;  // `A: 1` and `A: ` with CR LF.
  }
}

TEST(KeptAnswer, OneWithoutItsBodySaysSo) {
  StoredResponse bare;
  bare.status = 200;
  bare.kept = BodyKept::NotKept;
  const KeptAnswer kept(std::make_shared<const StoredResponse>(bare));
  EXPECT_EQ(*kept.unpack(), bare);
  EXPECT_EQ(kept.bytes(), 0u);
}

TEST(KeptAnswer, ALargeAnswerIsSharedAndASmallOneIsNotHeldOnTo) {
  const StoredResponsePtr large = answer_of(100'000);
  const StoredResponsePtr small = answer_of(10);
  const KeptAnswer keeps_large(large);
  const KeptAnswer keeps_small(small);
  EXPECT_EQ(keeps_large.unpack(), large);
  EXPECT_EQ(small.use_count(), 1);
}

TEST(KeptAnswer, NoAnswerIsNone) {
  const KeptAnswer none(nullptr);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.unpack(), nullptr);
  EXPECT_EQ(none.bytes(), 0u);
}

}  // namespace
}  // namespace semel
