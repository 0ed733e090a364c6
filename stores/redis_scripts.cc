#include "stores/redis_scripts.h"

#include <deque>
#include <string>

#include "stores/redis_script_texts.h"

namespace semel {
namespace {

/// The server refuses the first write of the script where it is out of memory, and so all of it.
RedisScript in_room(std::string_view name) { return RedisScript(redis_script_text(name)); }

/// It runs on a server that is out of memory, too.
RedisScript always(std::string_view name) {
  static std::deque<std::string> texts;
  texts.push_back("#!lua flags=allow-oom\n" + std::string(redis_script_text(name)));
  return RedisScript(texts.back());
}

RedisScripts make_scripts() {
  return {
      .claim = in_room("claim"),
      .look = in_room("look"),
      .record = in_room("record"),
      .record_bare = always("record"),
      .release = always("release"),
      .mark = always("mark"),
      .resolve = in_room("resolve"),
      .resolve_bare = always("resolve"),
      .find = in_room("find"),
      .locate = in_room("locate"),
      .list = in_room("list"),
      .forget = always("forget"),
      .forget_events = always("forget_events"),
      .sweep = always("sweep"),
      .trim = always("trim"),
      .adopt = in_room("adopt"),
      .routes = in_room("routes"),
      .health = in_room("health"),
      .meet = always("meet"),
      .doubt = always("doubt"),
      .acknowledge = always("acknowledge"),
      .init = in_room("init"),
      .events = in_room("events"),
  };
}

}  // namespace

const RedisScripts& redis_scripts() {
  static const RedisScripts scripts = make_scripts();
  return scripts;
}

std::vector<const RedisScript*> RedisScripts::all() const {
  return {&claim,       &look, &record,       &record_bare,   &release, &mark,
          &resolve,     &find, &resolve_bare, &locate,        &list,    &forget,
          &sweep,       &trim, &adopt,        &routes,        &health,  &meet,
          &acknowledge, &init, &events,       &forget_events, &doubt};
}

}  // namespace semel
