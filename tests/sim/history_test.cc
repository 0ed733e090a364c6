// What the log of a simulated world says of itself.
#include "tests/sim/history.h"

#include <gtest/gtest.h>

#include <set>

#include "core/problem.h"

namespace semel::sim {
namespace {

TEST(History, EveryKindAndEveryWordHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t kind = 0; kind < kKindCount; ++kind) {
    const std::string_view said = name(static_cast<Kind>(kind));
    EXPECT_FALSE(said.empty());
    names.insert(said);
  }
  EXPECT_EQ(names.size(), kKindCount);
  names.clear();
  for (std::size_t word = 0; word < kWordCount; ++word) names.insert(name(static_cast<Word>(word)));
  EXPECT_EQ(names.size(), kWordCount);
}

TEST(History, AProblemOfTheProxyIsReadByItsSlug) {
  EXPECT_EQ(word_of("in-flight", row(ProblemType::InFlight).slug), Word::InFlight);
  EXPECT_EQ(word_of("indeterminate", row(ProblemType::Indeterminate).slug), Word::Indeterminate);
  EXPECT_EQ(word_of("refused", row(ProblemType::ResultNotKept).slug), Word::ResultNotKept);
  EXPECT_EQ(word_of("refused", row(ProblemType::KeyReused).slug), Word::KeyReused);
  EXPECT_EQ(word_of("refused", row(ProblemType::CallerMismatch).slug), Word::CallerMismatch);
  EXPECT_EQ(word_of("refused", row(ProblemType::StoreUnavailable).slug), Word::StoreUnavailable);
  EXPECT_EQ(word_of("refused", row(ProblemType::UpstreamUnreachable).slug),
            Word::UpstreamUnreachable);
  EXPECT_EQ(word_of("refused", row(ProblemType::BodyAmbiguous).slug), Word::OtherProblem);
  EXPECT_EQ(word_of("", ""), Word::None);
  EXPECT_EQ(word_of("replayed", ""), Word::Replayed);
  EXPECT_EQ(word_of("indeterminate", ""), Word::MarkedIndeterminate);
}

TEST(History, TheSameBytesHaveTheSameIdAndOthersHaveOthers) {
  History history;
  EXPECT_EQ(history.record_of("one"), history.record_of("one"));
  EXPECT_NE(history.record_of("one"), history.record_of("two"));
  const auto attempt = history.attempt_of("token");
  history.bind_reference("reference", attempt);
  EXPECT_EQ(history.attempt_by_reference("reference"), attempt);
  EXPECT_EQ(history.attempt_by_reference("unheard"), Happening::kNone);
}

TEST(History, ItsDigestChangesWithEveryField) {
  const Happening plain;
  std::set<std::uint64_t> digests;
  const auto note = [&](auto change) {
    History history;
    Happening changed = plain;
    change(changed);
    history.add(changed);
    digests.insert(history.digest());
  };
  note([](Happening&) {});
  note([](Happening& h) { h.at = 1; });
  note([](Happening& h) { h.digest = 1; });
  note([](Happening& h) { h.fence = 1; });
  note([](Happening& h) { h.call = 1; });
  note([](Happening& h) { h.key = 1; });
  note([](Happening& h) { h.record = 1; });
  note([](Happening& h) { h.attempt = 1; });
  note([](Happening& h) { h.payload = 1; });
  note([](Happening& h) { h.caller = 1; });
  note([](Happening& h) { h.status = 1; });
  note([](Happening& h) { h.proxy = 1; });
  note([](Happening& h) { h.route = 1; });
  note([](Happening& h) { h.kind = Kind::Effect; });
  note([](Happening& h) { h.word = Word::Executed; });
  note([](Happening& h) { h.retry = Retry::No; });
  note([](Happening& h) { h.because = Because::Open; });
  note([](Happening& h) { h.cut = true; });
  note([](Happening& h) { h.bare = true; });
  note([](Happening& h) { h.flows = true; });
  note([](Happening& h) { h.excused = true; });
  EXPECT_EQ(digests.size(), 21U);
}

TEST(History, AnEventIsOneLineThatAPersonCanRead) {
  Happening granted;
  granted.at = 12'000'000'345;
  granted.kind = Kind::Granted;
  granted.proxy = 2;
  granted.record = 7;
  granted.attempt = 3;
  granted.fence = 12;
  EXPECT_EQ(line_of(granted), "12.000000345s p2 r7 granted a3 f12");
  Happening told;
  told.at = 1;
  told.kind = Kind::CallAnswered;
  told.call = 5;
  told.key = 1;
  told.status = 409;
  told.word = Word::Indeterminate;
  told.retry = Retry::No;
  EXPECT_EQ(line_of(told), "0.000000001s c5 k1 call_answered 409 indeterminate no-retry");
}

// The example vectors of FNV-1a, 64 bits (draft-eastlake-fnv, appendix C).
TEST(History, DigestsOfBodiesAreFnv1a) {
  EXPECT_EQ(digest_of(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(digest_of("a"), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(digest_of("foobar"), 0x85944171f73967e8ULL);
}

}  // namespace
}  // namespace semel::sim
