// Decides at the start whether a store may have lost records, and keeps its witness afterwards.
#include "stores/loss_watch.h"

#include <chrono>

#include "stores/open.h"

namespace semel {
namespace {

/// How often the witness is written at the most.
constexpr std::chrono::seconds kPause{1};

}  // namespace

LossWatch::LossWatch(const std::string& folder, const WitnessNote& found, const std::string& doubt)
    : has_witness_(!folder.empty()), file_(folder), store_(found) {
  if (!has_witness_) {
    suspect_ = !doubt.empty();
    if (suspect_) remark_ = "the store is suspect: " + doubt;
    return;
  }
  compare(doubt);
  writer_ = std::thread([this] { keep_noting(); });
}

LossWatch::~LossWatch() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void LossWatch::compare(const std::string& doubt) {
  const auto read = file_.read();
  if (!read) {
    known_ = store_;
    return suspect_for("the witness in " + file_.path() + " cannot be read");
  }
  if (const auto& noted = *read) {
    known_ = written_ = *noted;
    const std::string reason = doubt.empty() ? loss_between(*noted, store_) : doubt;
    if (!reason.empty()) return suspect_for(reason);
    if (noted->suspect) return suspect_for("it was so at an earlier start");
  } else if (!doubt.empty()) {
    known_ = store_;
    return suspect_for(doubt);
  } else if (store_.fence != Fence{}) {
    remark_ = "no witness in " + file_.path() +
              ": whether the store lost anything before this start cannot be told; there is one "
              "from now on";
  }
  if (written_ == store_) return;
  const std::string error = file_.write(store_);
  if (error.empty()) {
    written_ = store_;
  } else {
    remark_ = "the witness " + file_.path() + " cannot be written (" + error +
              "): a loss of the store would not be noticed";
  }
}

void LossWatch::suspect_for(const std::string& reason) {
  suspect_ = true;
  remark_ = "the store is suspect: " + reason + "; the witness knew " + in_words(known_) +
            ", the store has " + in_words(store_) +
            "; effectful calls that it does not know are refused until `semel store acknowledge`";
  written_ = known_;
  written_.suspect = true;
  const std::string error = file_.write(written_);
  if (!error.empty()) {
    throw StoreError(remark_ + "; and the witness " + file_.path() +
                     " cannot be marked so: " + error);
  }
}

bool LossWatch::is_suspect() const {
  const std::lock_guard lock(mutex_);
  return suspect_;
}

std::string LossWatch::remark() const {
  const std::lock_guard lock(mutex_);
  return remark_;
}

void LossWatch::note(Fence durable) {
  {
    const std::lock_guard lock(mutex_);
    if (store_.fence == durable) return;
    store_.fence = durable;
    if (suspect_ || !is_idle_) return;
  }
  changed_.notify_one();
}

Result<bool> LossWatch::acknowledge(Fence durable) {
  const std::lock_guard lock(mutex_);
  if (!suspect_) return false;
  store_.fence = durable;
  // Nothing else writes while the store is suspect, and nothing may be noted in between.
  if (has_witness_ && !file_.write(store_).empty()) return Fault::StoreUnreachable;
  written_ = store_;
  suspect_ = false;
  remark_.clear();
  return true;
}

void LossWatch::keep_noting() {
  std::unique_lock lock(mutex_);
  const auto due = [this] { return !suspect_ && written_ != store_; };
  for (;;) {
    is_idle_ = true;
    changed_.wait(lock, [&] { return ending_ || due(); });
    is_idle_ = false;
    if (!due()) return;
    const bool last = ending_;
    const WitnessNote fresh = store_;
    lock.unlock();
    const bool done = file_.write(fresh).empty();
    lock.lock();
    if (done) written_ = fresh;
    if (last) return;
    changed_.wait_for(lock, kPause, [this] { return ending_; });
  }
}

}  // namespace semel
