#include "stores/redis_pages.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "stores/redis_record.h"

namespace semel {
namespace {

constexpr char kBetween = ',';

bool is_fence(std::string_view text) {
  return !text.empty() && text.size() <= 16 &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::vector<std::string> parse(std::string_view after, std::size_t lanes) {
  std::vector<std::string> fences;
  while (!after.empty()) {
    const auto end = std::min(after.find(kBetween), after.size());
    fences.emplace_back(after.substr(0, end));
    after.remove_prefix(std::min(end + 1, after.size()));
  }
  const bool fits = fences.size() == lanes && std::all_of(fences.begin(), fences.end(), is_fence);
  return fits ? fences : std::vector<std::string>(lanes, "0");
}

}  // namespace

RedisPages::RedisPages(const ListFilter& filter, std::size_t lanes)
    : limit_(std::clamp<std::size_t>(filter.limit, 1, 1000)), lanes_(lanes) {
  const auto fences = parse(filter.after, lanes);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    lanes_[lane].cursor = lanes_[lane].shown = fences[lane];
  }
}

std::size_t RedisPages::wants() {
  merge();
  if (is_full_) return lanes_.size();
  const auto open = std::find_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
    return lane.waiting.empty() && !lane.has_ended;
  });
  return static_cast<std::size_t>(open - lanes_.begin());
}

Result<void> RedisPages::take(std::size_t lane, RedisTold told) {
  constexpr std::size_t kParts = 3;
  if (!told.is("page")) return Fault::StoreTimeout;
  Lane& from = lanes_[lane];
  from.has_ended = told.text(0).empty();
  if (!from.has_ended) from.cursor = told.text(0);
  for (std::size_t at = 1; at + kParts <= told.size(); at += kParts) {
    const auto record = decode_redis_record(told.text(at + 1));
    // One that is corrupt has no place in a list; asked for by its key it says so.
    if (!record) continue;
    const std::int64_t end = told.number(at + 2);
    auto view =
        record->view_at(told.time(), end < 0 ? std::nullopt : std::optional(server_time(end)));
    const std::string& key = told.text(at);
    std::copy_n(key.begin(), std::min(key.size(), view.key.bytes.size()), view.key.bytes.begin());
    from.waiting.push_back(std::move(view));
  }
  return {};
}

void RedisPages::merge() {
  for (;;) {
    Lane* first = nullptr;
    for (Lane& lane : lanes_) {
      if (lane.waiting.empty()) {
        if (!lane.has_ended) return;
        continue;
      }
      const auto rank = [](const RecordView& view) { return std::tie(view.created, view.fence); };
      if (!first || rank(lane.waiting.front()) < rank(first->waiting.front())) first = &lane;
    }
    if (!first) return;
    if (page_.records.size() == limit_) {
      is_full_ = true;
      return;
    }
    first->shown = std::to_string(first->waiting.front().fence.value);
    page_.records.push_back(std::move(first->waiting.front()));
    first->waiting.pop_front();
  }
}

std::string RedisPages::next() const {
  std::string text;
  for (const Lane& lane : lanes_) {
    if (!text.empty()) text += kBetween;
    text += lane.shown;
  }
  return text;
}

RecordPage RedisPages::page() {
  if (is_full_) page_.next = next();
  return std::move(page_);
}

}  // namespace semel
