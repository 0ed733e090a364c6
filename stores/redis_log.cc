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

/// As Redis writes one, and nobody else.
bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 16 && (text[0] != '0' || text.size() == 1) &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// `MILLISECONDS-NUMBER`, as Redis names an entry of a stream.
bool is_entry(std::string_view text) {
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
    return log;
  }
  if (!left.starts_with(name) || left.size() == name.size() || left[name.size()] != kBehindName) {
    return Fault::RecordCorrupt;
  }
  left.remove_prefix(name.size());
  while (!left.empty()) {
    left.remove_prefix(1);
    const std::string_view entry = left.substr(0, left.find(kBetween));
    if (!is_entry(entry)) return Fault::RecordCorrupt;
    log.ends_.emplace_back(entry);
    left.remove_prefix(entry.size());
  }
  if (log.ends_.size() != lanes) return Fault::RecordCorrupt;
  return log;
}

std::vector<std::size_t> RedisLog::order() const {
  std::vector<std::size_t> lanes(ends_.size());
  std::iota(lanes.begin(), lanes.end(), std::size_t{0});
  const auto since = [this](std::size_t lane) {
    const std::string_view end = ends_[lane];
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
    ends_[lane] = told.text(0);
    return {};
  }
  if (told.is("never")) return Fault::RecordCorrupt;
  if (!told.is("page")) return Fault::StoreTimeout;
  ends_[lane] = told.text(0);
  for (std::size_t at = 1; at + 1 < told.size(); at += 2) {
    auto event = decode_redis_event(told.text(at + 1));
    if (!event) return Fault::EventCorrupt;
    ends_[lane] = told.text(at);
    event->position = position();
    page_.events.push_back(*std::move(event));
  }
  return {};
}

std::variant<EventPage, EventGap> RedisLog::reply() {
  if (has_gap_) return EventGap{position()};
  page_.next = position();
  return std::move(page_);
}

std::string RedisLog::position() const {
  std::string text = name_;
  char between = kBehindName;
  for (const std::string& end : ends_) {
    text += between;
    text += end;
    between = kBetween;
  }
  return text;
}

}  // namespace semel
