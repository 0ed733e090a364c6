// Every byte of an exchange is a place where a connection may end. Wherever it does, an EFFECTFUL
// call has at most one effect, and whoever asks again is told the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "tests/e2e/byte_cuts.h"

namespace semel::testing {
namespace {

using How = FaultyLink::How;
using Way = FaultyLink::Way;
using Link = ByteCut::Link;

/// What may follow a cut of an EFFECTFUL call. @return What is wrong; empty: nothing.
std::string verdict_on_effectful(const ByteCut& cut, const CutRound& round) {
  if (round.effects > 1) return "more than one effect";
  if (is_unknown(round.first) && !is_unknown(round.second))
    return "unknown to the first, known to the second";
  if (cut.link == Link::Client) {
    if (cut.way == Way::Back) return is_told(round.second, "replayed") ? "" : "not replayed";
    if (cut.is_whole()) return is_answered(round.second) && round.effects == 1 ? "" : "lost";
    if (round.effects_at_break != 0) return "dispatched though it was not whole";
    return is_told(round.second, "executed") && round.effects == 1 ? "" : "not run by the retry";
  }
  if (cut.is_whole()) return is_answered(round.second) || is_unknown(round.second) ? "" : "neither";
  if (!is_unknown(round.second)) return "not unknown";
  return round.effects == (cut.way == Way::Back ? 1 : 0) ? "" : "another number of effects";
}

/// Of an IDEMPOTENT call nothing stays unknown: it runs again unless it was recorded.
std::string verdict_on_idempotent(const ByteCut& cut, const CutRound& round) {
  if (!is_answered(round.second)) return "not answered";
  if (cut.link == Link::Tool) return "";
  if (cut.way == Way::Back && !is_told(round.second, "replayed")) return "not replayed";
  if (cut.way == Way::Forth && !cut.is_whole() && round.effects_at_break != 0) {
    return "dispatched though it was not whole";
  }
  return "";
}

std::string verdict_on(const ByteCut& cut, const CutRound& round) {
  const bool is_answer_cut = cut.link == Link::Client && cut.way == Way::Back && !cut.is_whole();
  if (!round.broke) return "nothing was cut";
  if (is_answer_cut && round.first.is_complete()) return "half an answer was taken for a whole one";
  const auto is_replay_of = [](const Response& later, const Response& earlier) {
    return is_told(later, "replayed") && later.body == earlier.body;
  };
  if (is_answered(round.first) && !is_replay_of(round.second, round.first)) {
    return "answered without a record";
  }
  const bool is_lasting =
      is_answered(round.second) ? is_replay_of(round.third, round.second) : is_unknown(round.third);
  if (!is_lasting) return "the third is told something else";
  return cut.is_effectful ? verdict_on_effectful(cut, round) : verdict_on_idempotent(cut, round);
}

std::size_t step_of_environment() {
  const char* said = std::getenv("SEMEL_CUT_STEP");
  return said == nullptr ? 8 : std::stoul(said);
}

/// `client 300 + 399 bytes, tool 557 + 300 bytes`: there and back, where nothing is cut.
std::string sizes_of(const std::vector<ByteCut>& cuts) {
  const auto size = [&cuts](Link link, Way way) {
    const auto at = std::ranges::find_if(
        cuts, [&](const ByteCut& cut) { return cut.link == link && cut.way == way; });
    return std::to_string(at->size);
  };
  return "client " + size(Link::Client, Way::Forth) + " + " + size(Link::Client, Way::Back) +
         " bytes, tool " + size(Link::Tool, Way::Forth) + " + " + size(Link::Tool, Way::Back) +
         " bytes";
}

class ByteCutTest : public ::testing::TestWithParam<std::tuple<StoreKind, How>> {
 protected:
  static void run(CutSite& site, const std::vector<ByteCut>& cuts) {
    const long effects_before = site.tool().effects();
    for (const std::string& wrong : site.run(cuts, verdict_on)) ADD_FAILURE() << wrong;
    const CutTotals& totals = site.totals();
    EXPECT_EQ(totals.rounds, static_cast<long>(cuts.size()));
    std::cout << totals.rounds << " cuts, " << totals.calls << " calls, "
              << site.tool().effects() - effects_before << " effects; retries: " << totals.executed
              << " executed, " << totals.replayed << " replayed, " << totals.indeterminate
              << " indeterminate" << std::endl;
  }
};

/// The cuts that leave a client's request unfinished, or all others.
enum class Which : std::uint8_t { Unfinished, Others };
std::vector<ByteCut> only(Which which, std::vector<ByteCut> cuts) {
  std::erase_if(cuts, [which](const ByteCut& cut) {
    const bool is_unfinished = cut.link == Link::Client && cut.way == Way::Forth && !cut.is_whole();
    return is_unfinished != (which == Which::Unfinished);
  });
  return cuts;
}

TEST_P(ByteCutTest, WhereverAConnectionEndsThereIsOneEffectAtMostAndTheRetryIsToldTheTruth) {
  const auto [store, how] = GetParam();
  const std::size_t step = step_of_environment();
  CutSite site(store, "");
  const std::vector<ByteCut> cuts = site.matrix(how, step);
  std::cout << sizes_of(cuts) << std::endl;
  run(site, how == How::Stall ? only(Which::Others, cuts) : cuts);
  if (how != How::Stall) return;
  // A request that stops half-way is waited for.
  CutSite hasty(store, "limits: {header_timeout: 300ms, body_timeout: 300ms}\n");
  run(hasty, only(Which::Unfinished, hasty.matrix(how, step)));
}

TEST(BytePieces, AnExchangeThatComesInPiecesIsTheSameExchange) {
  for (const StoreKind store : {StoreKind::Memory, StoreKind::Sqlite}) {
    CutSite site(store, "");
    long calls = 0;
    for (const std::size_t piece_max : {1, 2, 3, 7, 64, 1000}) {
      for (const bool is_effectful : {true, false}) {
        // Byte by byte with a pause before each, the answer takes a while.
        for (const milliseconds delay : {milliseconds{0}, milliseconds{piece_max > 3 ? 1 : 0}}) {
          SCOPED_TRACE(piece_max);
          const auto [first, second] =
              site.call_in_pieces(is_effectful, {.piece_max = piece_max, .delay = delay});
          EXPECT_TRUE(is_told(first, "executed")) << first.status << first.reason;
          EXPECT_TRUE(is_told(second, "replayed")) << second.status << second.reason;
          EXPECT_EQ(second.body, first.body);
          ++calls;
        }
      }
    }
    EXPECT_EQ(site.tool().effects(), calls);
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<StoreKind, How>>& row) {
  constexpr std::array<const char*, 4> kNames = {"Close", "Reset", "HalfClose", "Stall"};
  return std::string(std::get<0>(row.param) == StoreKind::Memory ? "Memory" : "Sqlite") +
         kNames.at(static_cast<std::size_t>(std::get<1>(row.param)));
}

INSTANTIATE_TEST_SUITE_P(Links, ByteCutTest,
                         ::testing::Combine(::testing::Values(StoreKind::Memory, StoreKind::Sqlite),
                                            ::testing::Values(How::Close, How::Reset,
                                                              How::HalfClose, How::Stall)),
                         name_of);

}  // namespace
}  // namespace semel::testing
