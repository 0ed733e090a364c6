// What the house looks after at the store. Called by proxy/server, on the housekeeping thread.
#include "proxy/store_watch.h"

#include <algorithm>
#include <utility>

#include "core/route_agreement.h"

namespace semel::proxy {

Task<> StoreWatch::look() {
  tell(co_await site_.store->health());
  if (sharing_of(editions_.config()) == Agreement::Sharing::WithOthers) co_await look_at_routes();
}

Task<> StoreWatch::look_at_routes() {
  const auto index = static_cast<std::size_t>(StoreOperation::Routes);
  const auto asked = Agreement::Clock::now();
  const auto remembered = co_await site_.store->routes();
  shard_.store_duration[index].observe(Agreement::Clock::now() - asked);
  if (remembered.has_error()) {
    shard_.store_errors[index].add();
    co_return;
  }
  for (const auto& edition : editions_.in_use()) {
    const std::vector<Route>& routes = edition->table.routes();
    const std::vector<std::size_t> places = disagreeing(*remembered, routes);
    if (!edition->agreement.tell(places, asked) || edition != editions_.running()) continue;
    std::vector<std::string> changed;
    for (const std::size_t place : places) changed.push_back(routes[place].name);
    const bool remembers_nothing = remembered->empty() && !changed.empty();
    const bool has_turned =
        std::exchange(remembers_nothing_, remembers_nothing) != remembers_nothing;
    if (has_turned && !changed.empty()) changed_.clear();  // For another reason now: told anew.
    tell_changed(std::move(changed));
  }
}

void StoreWatch::tell(const StoreHealth& health) {
  if (health.up && !was_up_) log_ << "semel: the store is up again" << std::endl;
  const bool is_news = !health.remark.empty() && health.remark != remark_;
  if (!health.up && (was_up_ || is_news)) {
    log_ << "semel: the store is down" << (health.remark.empty() ? "" : ": ") << health.remark
         << std::endl;
  } else if (is_news) {
    log_ << "semel: " << health.remark << std::endl;
  }
  if (!health.remark.empty()) remark_ = health.remark;
  was_up_ = health.up;
  if (!health.up) return;  // What it does not say then has not ended.
  if (was_suspect_ && !health.suspect) {
    log_ << "semel: the store is no longer suspect" << std::endl;
  }
  remark_ = health.remark;
  was_suspect_ = health.suspect;
}

void StoreWatch::tell_changed(std::vector<std::string> changed) {
  const std::string why =
      remembers_nothing_
          ? ": the store remembers no route, as if it had been made anew while this process ran; "
            "the route answers 503 until a reload (SIGHUP) or a restart"
          : ": another replica has changed it; here it answers 503 until both have one "
            "configuration again: reload this one, or take the other one back";
  for (const std::string& route : changed) {
    if (std::ranges::find(changed_, route) != changed_.end()) continue;
    log_ << "semel: route " << route << why << std::endl;
  }
  for (const std::string& route : changed_) {
    if (std::ranges::find(changed, route) != changed.end()) continue;
    log_ << "semel: route " << route << ": the store remembers it as it is here again" << std::endl;
  }
  site_.metrics.note_changed(changed);
  changed_ = std::move(changed);
}

}  // namespace semel::proxy
