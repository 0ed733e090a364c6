#include "io/deadlines.h"

namespace semel {

void Deadlines::Entry::disarm() {
  if (previous_ == nullptr) return;
  previous_->next_ = next_;
  next_->previous_ = previous_;
  previous_ = next_ = nullptr;
}

Deadlines::Deadlines() : head_(nullptr, nullptr) { head_.previous_ = head_.next_ = &head_; }

void Deadlines::arm(Entry& entry, Clock::time_point at) {
  entry.at_ = at;
  if (entry.is_armed()) return;
  entry.previous_ = head_.previous_;
  entry.next_ = &head_;
  head_.previous_->next_ = &entry;
  head_.previous_ = &entry;
}

void Deadlines::sweep(Clock::time_point now) {
  if (now != Clock::time_point::max()) swept_ = now;
  // A cursor of our own in the ring survives whatever a callback disarms.
  Entry cursor(nullptr, nullptr);
  Entry end(nullptr, nullptr);
  arm(end, now);
  cursor.previous_ = &head_;
  cursor.next_ = head_.next_;
  head_.next_->previous_ = &cursor;
  head_.next_ = &cursor;
  while (cursor.next_ != &end) {
    Entry* due = cursor.next_;
    Entry* after = due->next_;
    cursor.disarm();
    cursor.previous_ = due;
    cursor.next_ = after;
    due->next_ = &cursor;
    after->previous_ = &cursor;
    if (due->at_ > now) continue;
    due->disarm();
    due->expire_(due->owner_);
  }
}

}  // namespace semel
