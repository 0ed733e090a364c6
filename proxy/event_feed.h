#pragma once

#include <chrono>
#include <memory>

#include "proxy/page_server.h"
#include "proxy/page_target.h"
#include "stores/store.h"

namespace semel::proxy {

/// The transition log as programs read it: page by page, or as a stream of server-sent events.
///
/// @thread The one of its io_context.
/// @source docs/http-surface.md, "The transition log".
class EventFeed {
 public:
  /// Each reads the store five times a second while nothing is new.
  static constexpr std::size_t kStreamsMax = 16;

  /// @owns The store outlives every stream.
  explicit EventFeed(Store& store);

  /// `GET /v1/events`, its query looked through for unknown and repeated parameters already.
  Task<PageReply> answer(PageRequest request, PageTarget target);

  /// No stream begins any more, and those that there are end once they have told all there is.
  void drain();
  /// Waits until they have ended, but not for longer.
  Task<> ended(std::chrono::milliseconds patience);

 private:
  class Stream;
  /// What streams share, however long they outlive the feed.
  struct Readers {
    Store& store;
    std::size_t count = 0;
    bool draining = false;
  };

  [[nodiscard]] PageReply begin_stream(std::string after);

  std::shared_ptr<Readers> readers_;
};

}  // namespace semel::proxy
