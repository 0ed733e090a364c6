#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/gateway.h"
#include "tests/support/counting_tool.h"
#include "tests/support/faulty_link.h"

namespace semel::testing {

/// One exchange of the cut matrix: which of its two links breaks, and where.
struct ByteCut {
  enum class Link : std::uint8_t { Client, Tool };
  bool is_effectful = true;
  Link link = Link::Client;
  FaultyLink::Way way = FaultyLink::Way::Forth;
  FaultyLink::How how = FaultyLink::How::Close;
  std::size_t at = 0;
  std::size_t size = 0;  ///< What goes that way in an exchange that nothing cuts.

  [[nodiscard]] bool is_whole() const { return at == size; }
};
[[nodiscard]] std::string text_of(const ByteCut& cut);

/// What one round saw: the call that was cut, the same call until it was settled, and once more.
struct CutRound {
  std::string run;
  Response first;
  bool broke = false;
  int effects_at_break = 0;
  Response second;
  Response third;
  int effects = 0;
};

/// The first answer, and no refusal.
[[nodiscard]] bool is_answered(const Response& response);
/// The same with this word of Idempotency-Status.
[[nodiscard]] bool is_told(const Response& response, const char* word);
[[nodiscard]] bool is_unknown(const Response& response);

/// What the rounds of a run have come to.
struct CutTotals {
  std::atomic<long> rounds{0};
  std::atomic<long> calls{0};
  std::atomic<long> executed{0};  ///< Of the calls that followed a cut: by what they were told.
  std::atomic<long> replayed{0};
  std::atomic<long> indeterminate{0};
};

/// Semel between a client and a tool over links that break. Lanes have links and routes of their
/// own, so that their rounds run side by side on one process and one store.
class CutSite {
 public:
  static constexpr std::size_t kLanes = 12;
  /// @param limits  `limits: {...}` of the configuration, or nothing.
  CutSite(StoreKind store, const std::string& limits);

  /// Cuts at every `step`-th offset of all four ways, and before and behind the last byte; for both
  /// policies.
  [[nodiscard]] std::vector<ByteCut> matrix(FaultyLink::How how, std::size_t step);

  /// One call in pieces of at most `piece_max` bytes on both links, and the same once more.
  [[nodiscard]] std::pair<Response, Response> call_in_pieces(bool is_effectful,
                                                             FaultyLink::Pace pace);

  /// Says what is wrong with a round; nothing if nothing is.
  using Judge = std::function<std::string(const ByteCut&, const CutRound&)>;
  /// Plays the rounds. @return What was wrong, a line each, not more than twenty.
  [[nodiscard]] std::vector<std::string> run(const std::vector<ByteCut>& cuts, const Judge& judge);

  [[nodiscard]] const CutTotals& totals() const { return totals_; }
  [[nodiscard]] const CountingTool& tool() const { return tool_; }

 private:
  struct Lane {
    std::size_t number = 0;
    std::unique_ptr<FaultyLink> to_tool;
    std::unique_ptr<FaultyLink> to_semel;
    [[nodiscard]] FaultyLink& of(ByteCut::Link link) const {
      return link == ByteCut::Link::Client ? *to_semel : *to_tool;
    }
  };
  [[nodiscard]] static GatewayOptions options(StoreKind store, const std::string& limits,
                                              const std::array<Lane, kLanes>& lanes);
  [[nodiscard]] static std::array<Lane, kLanes> lanes_to(const CountingTool& tool);
  [[nodiscard]] std::string next_run();
  [[nodiscard]] Response call(const Lane& lane, const ByteCut& cut, const std::string& run,
                              milliseconds patience);
  [[nodiscard]] Response call_until_settled(const Lane& lane, const ByteCut& cut,
                                            const std::string& run);
  /// One call whose answer stalls: its client gives up behind that.
  [[nodiscard]] Response call_until_stalled(const Lane& lane, const ByteCut& cut,
                                            const std::string& run);
  [[nodiscard]] CutRound play(const Lane& lane, const ByteCut& cut);
  void count(const Response& second);

  CountingTool tool_;
  std::array<Lane, kLanes> lanes_;
  Gateway gateway_;
  CutTotals totals_;
  std::atomic<long> runs_{0};
};

}  // namespace semel::testing
