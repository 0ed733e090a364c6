// Plays exchanges over links that break, many side by side.
#include "tests/e2e/byte_cuts.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>

#include "tests/e2e/problems.h"

namespace semel::testing {
namespace {

using How = FaultyLink::How;
using Way = FaultyLink::Way;
using Link = ByteCut::Link;

constexpr std::array<Way, 2> kWays = {Way::Forth, Way::Back};
constexpr std::array<Link, 2> kLinks = {Link::Client, Link::Tool};
constexpr std::array<const char*, 4> kHowNames = {"close", "reset", "half-close", "stall"};
constexpr std::size_t kRequestBytes = 300;
constexpr std::size_t kComplaintsMax = 20;
constexpr milliseconds kPatient{20'000};
/// Of a client that nothing reaches any more.
constexpr milliseconds kGivesUp{400};

/// A stalled tool is waited for; the route that does so with little patience.
std::string path_of(std::size_t lane, const ByteCut& cut) {
  const bool is_brief = cut.link == Link::Tool && cut.how == How::Stall;
  return "/lane-" + std::to_string(10 + lane) + (is_brief ? "/brief" : "/usual") +
         (cut.is_effectful ? "/book" : "/seat");
}

Request request_of(std::size_t lane, const ByteCut& cut, const std::string& run) {
  Request request = Gateway::tool_request(path_of(lane, cut), kBooking, {{"X-Run-Id", run}});
  const std::size_t bare = text_of(request).size();
  if (bare < kRequestBytes) request.headers.emplace_back("X-Filler", "");
  const std::size_t size = text_of(request).size();
  if (size < kRequestBytes) request.headers.back().second.assign(kRequestBytes - size, 'f');
  return request;
}

}  // namespace

bool is_answered(const Response& response) {
  return response.is_complete() && response.status == 201;
}
bool is_told(const Response& response, const char* word) {
  return is_answered(response) && response.header("Idempotency-Status") == word;
}
bool is_unknown(const Response& response) {
  return response.is_complete() && problem_slug(response) == "indeterminate";
}

std::string text_of(const ByteCut& cut) {
  return std::string(cut.is_effectful ? "EFFECTFUL" : "IDEMPOTENT") +
         (cut.link == Link::Client
              ? (cut.way == Way::Forth ? ", client to semel" : ", semel to client")
              : (cut.way == Way::Forth ? ", semel to tool" : ", tool to semel")) +
         ", " + kHowNames.at(static_cast<std::size_t>(cut.how)) + " at " + std::to_string(cut.at) +
         " of " + std::to_string(cut.size);
}

std::array<CutSite::Lane, CutSite::kLanes> CutSite::lanes_to(const CountingTool& tool) {
  std::array<Lane, kLanes> lanes;
  for (std::size_t i = 0; i < kLanes; ++i) {
    lanes[i].number = i;
    lanes[i].to_tool = std::make_unique<FaultyLink>(tool.port());
  }
  return lanes;
}

GatewayOptions CutSite::options(StoreKind store, const std::string& limits,
                                const std::array<Lane, kLanes>& lanes) {
  GatewayOptions options;
  options.store = store;
  options.more = limits;
  options.routes = "\nroutes:\n";
  for (const Lane& lane : lanes) {
    const std::string name = "lane-" + std::to_string(10 + lane.number);
    options.upstream_more +=
        "  " + name + ":\n    endpoints: [\"" + endpoint_of(lane.to_tool->port()) + "\"]\n";
    for (const char* pace : {"usual", "brief"}) {
      for (const char* tool : {"book", "seat"}) {
        const bool is_book = tool == std::string("book");
        const std::string timeout = pace == std::string("usual") ? "20s" : "400ms";
        options.routes +=
            "  - name: " + name + "-" + pace + "-" + tool +
            "\n    match: {methods: [POST], path: /" + name + "/" + pace + "/" + tool +
            "}\n    upstream: " + name + "\n    policy: " + (is_book ? "EFFECTFUL" : "IDEMPOTENT") +
            "\n    timeout: " + timeout + "\n    stream_timeout: " + timeout +
            (is_book ? "" : "\n    retry: {attempts: 2, backoff: 1ms, budget: 100%}") + kToolKey;
      }
    }
  }
  return options;
}

CutSite::CutSite(StoreKind store, const std::string& limits)
    : tool_({.answer_bytes = 300, .more_lines = "Connection: close\r\n"}),
      lanes_(lanes_to(tool_)),
      gateway_(options(store, limits, lanes_)) {
  for (Lane& lane : lanes_) lane.to_semel = std::make_unique<FaultyLink>(gateway_.semel.port());
}

std::string CutSite::next_run() { return "run-" + std::to_string(100'000 + ++runs_); }

Response CutSite::call(const Lane& lane, const ByteCut& cut, const std::string& run,
                       milliseconds patience) {
  ++totals_.calls;
  HttpClient client(lane.to_semel->port(), patience);
  return client.exchange(request_of(lane.number, cut, run));
}

/// Asks until nothing invites to ask again.
Response CutSite::call_until_settled(const Lane& lane, const ByteCut& cut, const std::string& run) {
  Response response;
  static_cast<void>(eventually(
      [&] {
        response = call(lane, cut, run, kPatient);
        return is_answered(response) || is_unknown(response);
      },
      kPatient));
  return response;
}

Response CutSite::call_until_stalled(const Lane& lane, const ByteCut& cut, const std::string& run) {
  ++totals_.calls;
  HttpClient client(lane.to_semel->port(), kGivesUp);
  client.send(request_of(lane.number, cut, run));
  static_cast<void>(eventually([&] { return lane.of(cut.link).has_broken(); }, kPatient));
  return client.read();
}

std::vector<ByteCut> CutSite::matrix(How how, std::size_t step) {
  std::vector<ByteCut> cuts;
  const Lane& lane = lanes_[0];
  for (const bool is_effectful : {true, false}) {
    for (const Link link : kLinks) {
      ByteCut cut{.is_effectful = is_effectful, .link = link, .how = how};
      EXPECT_TRUE(eventually([&] {
        lane.of(link).disarm();  // It counts from here.
        return call(lane, cut, next_run(), kPatient).status == 201;
      })) << "before anything is cut";
      for (const Way way : kWays) {
        cut.way = way;
        cut.size = lane.of(link).passed(way);
        EXPECT_GT(cut.size, 250U);
        for (cut.at = 0; cut.at + 1 < cut.size; cut.at += step) cuts.push_back(cut);
        for (cut.at = cut.size - 1; cut.at <= cut.size; ++cut.at) cuts.push_back(cut);
      }
    }
  }
  return cuts;
}

std::pair<Response, Response> CutSite::call_in_pieces(bool is_effectful, FaultyLink::Pace pace) {
  const Lane& lane = lanes_[0];
  for (const Link link : kLinks) lane.of(link).pace(pace);
  const ByteCut none{.is_effectful = is_effectful};
  const std::string run = next_run();
  Response first = call(lane, none, run, kPatient);
  Response second = call(lane, none, run, kPatient);
  for (const Link link : kLinks) lane.of(link).pace({});
  return {std::move(first), std::move(second)};
}

CutRound CutSite::play(const Lane& lane, const ByteCut& cut) {
  CutRound round;
  round.run = next_run();
  const bool hears_nothing =
      cut.link == Link::Client && cut.way == Way::Back && cut.how == How::Stall;
  lane.of(cut.link).arm({cut.way, cut.how, cut.at});
  round.first = hears_nothing && !cut.is_whole() ? call_until_stalled(lane, cut, round.run)
                                                 : call(lane, cut, round.run, kPatient);
  round.broke = lane.of(cut.link).disarm();
  round.effects_at_break = tool_.effects_of(round.run);
  round.second = call_until_settled(lane, cut, round.run);
  round.third = call_until_settled(lane, cut, round.run);
  round.effects = tool_.effects_of(round.run);
  return round;
}

void CutSite::count(const Response& second) {
  ++totals_.rounds;
  if (is_told(second, "executed")) ++totals_.executed;
  if (is_told(second, "replayed") || is_told(second, "collapsed")) ++totals_.replayed;
  if (is_unknown(second)) ++totals_.indeterminate;
}

std::vector<std::string> CutSite::run(const std::vector<ByteCut>& cuts, const Judge& judge) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::vector<std::string> complaints;
  const auto work = [&](const Lane& lane) {
    for (std::size_t i = next++; i < cuts.size(); i = next++) {
      const CutRound round = play(lane, cuts[i]);
      count(round.second);
      const std::string wrong = judge(cuts[i], round);
      const std::lock_guard lock(mutex);
      if (wrong.empty() || complaints.size() >= kComplaintsMax) continue;
      complaints.push_back(text_of(cuts[i]) + ": " + wrong + " (" + round.run + ", " +
                           std::to_string(round.effects) + " effects; first " +
                           std::to_string(round.first.status) + " " +
                           std::string(name(round.first.end)) + ", second " +
                           std::to_string(round.second.status) + " " +
                           round.second.header("Idempotency-Status").value_or("none") + ")");
    }
  };
  std::vector<std::thread> threads;
  for (const Lane& lane : lanes_) threads.emplace_back(work, std::cref(lane));
  for (std::thread& thread : threads) thread.join();
  return complaints;
}

}  // namespace semel::testing
