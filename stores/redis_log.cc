#include "stores/redis_log.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "stores/redis_record.h"

namespace semel {
namespace {

constexpr char kBetween = ',';
constexpr char kBehindName = '-';
constexpr char kBehindRun = ':';

/// As Redis writes one, and nobody else.
bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 16 && (text[0] != '0' || text.size() == 1) &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `RUN:MILLISECONDS-NUMBER`: the run of a server, and as it names an entry of a stream.
bool is_place(std::string_view text) {
  const auto colon = text.find(kBehindRun);
  if (colon == std::string_view::npos || colon > 40 ||
      text.substr(0, colon).find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return false;
  }
  text.remove_prefix(colon + 1);
  const auto dash = text.find('-');
  return dash != std::string_view::npos && is_number(text.substr(0, dash)) &&
         is_number(text.substr(dash + 1));
}

}  // namespace

Result<RedisLog> RedisLog::after(const EventFilter& filter, const std::string& name,
                                 std::size_t lanes) {
  RedisLog log(name, EventSpan::page_limit(filter));
  std::string_view left = filter.after;
  if (left.empty()) {
    log.ends_.resize(lanes);
    log.begins_ = log.ends_;
    return log;
  }
  if (!left.starts_with(name) || left.size() == name.size() || left[name.size()] != kBehindName) {
    return Fault::RecordCorrupt;
  }
  left.remove_prefix(name.size());
  while (!left.empty()) {
    left.remove_prefix(1);
    const std::string_view place = left.substr(0, left.find(kBetween));
    if (!is_place(place)) return Fault::RecordCorrupt;
    log.ends_.emplace_back(place);
    left.remove_prefix(place.size());
  }
  if (log.ends_.size() != lanes) return Fault::RecordCorrupt;
  log.begins_ = log.ends_;
  return log;
}

std::vector<std::size_t> RedisLog::order() const {
  std::vector<std::size_t> lanes(ends_.size());
  std::iota(lanes.begin(), lanes.end(), std::size_t{0});
  const auto since = [this](std::size_t lane) {
    std::string_view end = ends_[lane];
    end.remove_prefix(end.find(kBehindRun) + 1);
    // Of equal length they compare as the numbers do.
    return std::tuple(end.find('-'), end.substr(0, end.find('-')), lane);
  };
  std::sort(lanes.begin(), lanes.end(),
            [&](std::size_t a, std::size_t b) { return since(a) < since(b); });
  return lanes;
}

bool RedisLog::is_adrift() const {
  return std::any_of(ends_.begin(), ends_.end(), [](const auto& end) { return end.empty(); });
}

std::size_t RedisLog::share_of(std::size_t lanes_left) const {
  const std::size_t missing = limit_ - page_.events.size();
  return (missing + lanes_left - 1) / lanes_left;
}

Result<void> RedisLog::take(std::size_t lane, RedisTold told) {
  if (told.is("gap")) {
    has_gap_ = true;
    begins_[lane] = ends_[lane] = told.text(0);
    return {};
  }
  if (told.is("never")) return Fault::RecordCorrupt;
  if (!told.is("page")) return Fault::StoreTimeout;
  begins_[lane] = ends_[lane] = told.text(0);
  for (std::size_t at = 1; at + 1 < told.size(); at += 2) {
    auto event = decode_redis_event(told.text(at + 1));
    if (!event) return Fault::EventCorrupt;
    ends_[lane] = told.text(at);
    event->position = position_of(ends_);
    page_.events.push_back(*std::move(event));
  }
  return {};
}

std::variant<EventPage, EventGap> RedisLog::reply() {
  // What the other lanes have told meanwhile is in no page.
  if (has_gap_) return EventGap{position_of(begins_)};
  page_.next = position_of(ends_);
  return std::move(page_);
}

std::string RedisLog::position_of(const std::vector<std::string>& places) const {
  std::string text = name_;
  char between = kBehindName;
  for (const std::string& place : places) {
    text += between;
    text += place;
    between = kBetween;
  }
  return text;
}

}  // namespace semel
