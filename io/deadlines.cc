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
  // Two entries of our own in the ring survive whatever a callback disarms.
  arm(end_, now);
  cursor_.previous_ = &head_;
  cursor_.next_ = head_.next_;
  head_.next_->previous_ = &cursor_;
  head_.next_ = &cursor_;
  while (cursor_.next_ != &end_) {
    Entry* due = cursor_.next_;
    Entry* after = due->next_;
    cursor_.disarm();
    cursor_.previous_ = due;
    cursor_.next_ = after;
    due->next_ = &cursor_;
    after->previous_ = &cursor_;
    if (due->at_ > now) continue;
    due->disarm();
    due->expire_(due->owner_);
  }
  cursor_.disarm();
  end_.disarm();
}

}  // namespace semel
