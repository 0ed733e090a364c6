#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "core/result.h"
#include "stores/record_view.h"
#include "stores/redis_told.h"

namespace semel {

/// One list out of the lists of several lanes: each is in the order of its claims, and the lanes
/// are merged by when those were made.
///
/// The driver asks the lane that wants() names for what lies behind cursor(), and gives the answer
/// to take(), until none wants anything; page() is then ready.
class RedisPages {
 public:
  /// @param after  `next` of the page before. What is no such word counts as the start.
  RedisPages(const ListFilter& filter, std::size_t lanes);

  /// The lane whose next records decide what comes next; `lanes` if there is none.
  [[nodiscard]] std::size_t wants();
  [[nodiscard]] const std::string& cursor(std::size_t lane) const { return lanes_[lane].cursor; }
  /// How many more records than lie here may still be shown, one more than the page included.
  [[nodiscard]] std::size_t missing() const { return limit_ + 1 - page_.records.size(); }
  /// @param told  Of RedisScripts::list.
  [[nodiscard]] Result<void> take(std::size_t lane, RedisTold told);
  [[nodiscard]] RecordPage page();

 private:
  struct Lane {
    std::string cursor;  ///< Behind what was asked for.
    std::string shown;   ///< Behind what is in the page.
    bool has_ended = false;
    std::deque<RecordView> waiting;
  };
  /// Moves what is sure to come next into the page.
  void merge();
  [[nodiscard]] std::string next() const;

  std::size_t limit_;
  std::vector<Lane> lanes_;
  RecordPage page_;
  bool is_full_ = false;  ///< There is one more record than the page may have.
};

}  // namespace semel
