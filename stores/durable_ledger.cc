// Joins the law (ledger) to the file (sqlite_log): which rows a group of changes writes, which it
// makes superfluous, and how a file is read back. Called by sqlite_store's one writer thread.
#include "stores/durable_ledger.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/check.h"
#include "stores/open.h"
#include "stores/record_codec.h"
#include "stores/store_files.h"

namespace semel {
namespace {

constexpr std::size_t kWarmBytesMax = 64ull * 1024 * 1024;
constexpr std::size_t kWarmOverhead = 256;  ///< So that many small bodies are bounded too.
/// Of the reserve: what a commit may cost beside the claims that it ends.
constexpr std::size_t kReserveBase = 64ull * 1024;
/// The reserve grows in such steps: a system call for each, not for each claim.
constexpr std::size_t kReserveStep = 512ull * 1024;
/// More fences than a store gives between two notes of its witness, or while none can be written.
constexpr std::uint64_t kFenceLeap = 1'000'000'000;

constexpr char kGoOn[] = "; to go on with what lies there now: `semel store acknowledge CONFIG`";

const std::string& existing(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw StoreError(path + " does not exist: run `semel store init CONFIG`");
  }
  return path;
}

}  // namespace

DurableLedger::DurableLedger(const SqliteOptions& options, const StoreClock& clock, Mixed mixed)
    : lock_(existing(options.path)),
      state_lock_(options.state_dir),
      log_was_beside_(is_log_beside(options.path)),
      log_(options.path),
      timeline_(log_.meta_at_open().anchor, clock, current_boot_id()),
      records_({}, Ledger::Journal::On,
               options.events ? Ledger::Telling::On : Ledger::Telling::Off),
      writes_for_each_end_(options.events ? 2 : 1),
      reserve_(reserve_path(options.path)) {
  const std::string& path = options.path;
  read_rows(path);
  const std::string doubt = doubt_rows(options, mixed);
  records_.raise_fence(log_.meta_at_open().fence);
  if (const auto& bytes = log_.routes_at_open()) routes_ = decode_terms(*bytes);
  if (routes_) records_.adopt(*routes_);
  const Fence found = records_.last_fence();
  compare_with_witness(options, doubt);
  if (const auto done = log_.accept(); !done) {
    throw StoreError(path + " cannot be written: " + std::string(name(done.error())));
  }
  events_ = log_.open_events(options.events);
  if (found != records_.last_fence()) events_->leap(kFenceLeap);
  const Now start = now();
  records_.settle_lost_claims(start);
  // Also without a change: that the file can be written is shown, and its time is carried on.
  if (const auto done = write_transaction(start); !done) {
    throw StoreError(path + " cannot be written: " + std::string(name(done.error())));
  }
  records_.commit();
  events_->settle();
  watch_->note(durable_fence_);
}

void DurableLedger::keep_reserve(std::size_t cost) {
  if (!reserve_.is_possible()) return;
  const std::size_t least = kReserveBase + (records_.open_cost() + cost) * writes_for_each_end_;
  if (reserve_.bytes() < least) {
    if (asked_for_space_) return;
    if (!reserve_.grow_to(least + kReserveStep) && !reserve_.grow_to(least)) {
      asked_for_space_ = true;
      if (!reserve_.is_possible()) {
        records_.limit_open_cost(std::numeric_limits<std::size_t>::max());
        return;
      }
    }
  }
  const std::size_t bytes = reserve_.bytes();
  records_.limit_open_cost(bytes > kReserveBase ? (bytes - kReserveBase) / writes_for_each_end_
                                                : 0);
}

bool DurableLedger::is_reserve_spent() const {
  return reserve_.is_possible() && reserve_.is_spent();
}

// Each row that is found is one that a store wrote: its checksum says so. What a mixture lacks is
// the rest, as any store that lost records does, and its pages may lie in each other's way, so that
// the next row is written over another one. Hence three answers. Pages that do not fit: no start.
// Those that do, beside a write-ahead log: no start either, since the two can be separated until
// the first write, and an operator knows whose log it is. Otherwise nothing can be mended: suspect.
std::string DurableLedger::doubt_rows(const SqliteOptions& options, Mixed mixed) {
  if (log_.adds_up() && log_.is_log_own()) return "";
  const std::string found =
      log_.is_log_own()
          ? "its rows are not those that were noted with the last of them, as after a copy was "
            "written into the file, or beside the -wal of another"
          : "the -wal beside it was not begun on what the file holds, and with it it reads as "
            "store " +
                log_.store_id();
  const std::string untouched = options.path + " is damaged: " + found + kDamageCure;
  if (!log_.is_sound()) {
    throw StoreError(untouched +
                     "; what lies there now cannot be used, since its pages do not fit: if nothing "
                     "better is left, move it away and run `semel store init CONFIG`");
  }
  if (mixed == Mixed::Refuse && (log_was_beside_ || options.state_dir.empty())) {
    throw StoreError(untouched + kGoOn);
  }
  return found;
}

void DurableLedger::compare_with_witness(const SqliteOptions& options, const std::string& doubt) {
  struct stat file{};
  if (::stat(options.path.c_str(), &file) != 0) {
    throw StoreError(options.path + " does not exist: run `semel store init CONFIG`");
  }
  WitnessNote found;
  found.store_id = log_.store_id();
  found.fence = durable_fence_ = records_.last_fence();
  found.device = file.st_dev;
  found.inode = file.st_ino;
  found.boot_id = current_boot_id();
  watch_ = std::make_unique<LossWatch>(options.state_dir, found, doubt);
  if (!watch_->is_suspect()) return;
  records_.trust(Ledger::Trust::Suspect);
  // Fences that were given and lost are not given again, as far as anybody knows of them.
  records_.raise_fence(Fence{watch_->known().fence.value + kFenceLeap});
}

void DurableLedger::read_rows(const std::string& path) {
  const auto read = log_.read_all([&](const SqliteLog::Row& row) {
    IdempotencyKey key;
    if (row.key.size() != key.bytes.size() || row.seq == 0) {
      throw StoreError(path + " is damaged: row " + std::to_string(row.seq) + " names no key" +
                       kDamageCure);
    }
    std::copy(row.key.begin(), row.key.end(), key.bytes.begin());
    if (const Record* before = records_.peek(key)) dead_rows_.push_back(before->row);
    auto entry = decode_entry(row.entry);
    if (entry && std::holds_alternative<ErasedEntry>(*entry) &&
        std::get<ErasedEntry>(*entry).key == key) {
      records_.unload(key);
      dead_rows_.push_back(row.seq);
      return;
    }
    auto* stored = entry ? std::get_if<RecordEntry>(&*entry) : nullptr;
    if (stored && stored->key == key) {
      records_.load(key, std::move(stored->record));
    } else {
      records_.mark_corrupt(key);
      // Its own check holds, so it is the column that is damaged: the key that it tells is not
      // free.
      if (stored) records_.mark_corrupt(stored->key);
    }
    records_.place(key, row.seq);
  });
  if (!read) throw StoreError(path + " is damaged and cannot be read to its end" + kDamageCure);
}

Result<void> DurableLedger::commit(const Now& now) {
  asked_for_space_ = false;
  if (broken_) {
    undo();
    return Fault::StoreBroken;
  }
  if (records_.changes().empty() && reclaim_ == 0 && !adopting_ && !events_->is_asked()) {
    records_.commit();  // What is counted without a change has been told all the same.
    return {};
  }
  const auto done = write_with_reserve(now);
  is_disk_full_ = !done && done.error() == Fault::StoreFull;
  if (!done) {
    undo();
    return note_fault(done.error());
  }
  if (adopting_) {
    routes_ = *std::exchange(adopting_, std::nullopt);
    records_.adopt(*routes_);
  }
  for (const auto& change : records_.changes()) {
    const Record* record = records_.peek(change.key);
    if (record && !record->answer.empty()) remember_body(change.key, *record);
  }
  records_.commit();
  events_->settle();
  watch_->note(durable_fence_);
  return {};
}

Result<void> DurableLedger::write_with_reserve(const Now& now) {
  const bool completes =
      reclaim_ == 0 && !adopting_ && !events_->is_asked() && records_.only_completes();
  // What is free now belongs to the claims that are open.
  if (is_reserve_spent() && records_.open_cost() > 0 && !completes) return Fault::StoreFull;
  const std::size_t dead_before = dead_rows_.size();
  auto done = write_transaction(now);
  if (!done) roll_back(dead_before);
  if (done || done.error() != Fault::StoreFull || !completes || reserve_.bytes() == 0) return done;
  log_.allocate_ahead(reserve_.give_up());
  done = write_transaction(now);
  if (!done) roll_back(dead_before);
  return done;
}

void DurableLedger::roll_back(std::size_t dead_rows_before) {
  log_.rollback();
  events_->rollback();
  dead_rows_.resize(dead_rows_before);
}

void DurableLedger::undo() {
  records_.rollback();
  events_->undo();
  adopting_.reset();
  reclaim_ = 0;
  purge_ = false;
}

Result<void> DurableLedger::write_transaction(const Now& now) {
  if (const auto begun = log_.begin(); !begun) return begun;
  const std::uint64_t row_before = log_.last_row();
  for (const auto& change : records_.changes()) {
    if (const auto done = write_change(change, row_before); !done) return done;
  }
  if (const auto done = events_->write(records_.transitions(), now); !done) return done;
  const std::size_t reclaimed = std::min(reclaim_, dead_rows_.size());
  for (std::size_t i = 0; i < reclaimed; ++i) {
    if (const auto done = log_.remove(dead_rows_[i]); !done) return done;
  }
  if (adopting_) {
    if (const auto done = log_.put_routes(encode_terms(*adopting_)); !done) return done;
  }
  const SqliteLog::Meta meta{timeline_.anchor(now), records_.last_fence()};
  if (const auto done = log_.put_meta(meta); !done) return done;
  if (const auto done = log_.commit(); !done) return done;
  dead_rows_.erase(dead_rows_.begin(), dead_rows_.begin() + static_cast<std::ptrdiff_t>(reclaimed));
  reclaim_ = 0;
  commits_ += 1;
  durable_fence_ = meta.fence;
  return {};
}

Result<void> DurableLedger::write_change(const Ledger::Change& change,
                                         std::uint64_t last_row_before) {
  const std::uint64_t row_before = change.before ? change.before->row : 0;
  const Record* record = records_.peek(change.key);
  if (!record && row_before == 0) return {};  // Came and went within this group.
  if (row_before != 0) dead_rows_.push_back(row_before);
  // Erased and claimed anew within this group: both changes lead to the record that stands there.
  if (record && record->row > last_row_before) return {};
  if (!record) {
    const auto row = log_.append(change.key, encode_erased(change.key), std::nullopt);
    if (!row) return row.error();
    dead_rows_.push_back(*row);
    return {};
  }
  std::optional<std::string> response;
  if (record->state == Record::State::Completed) {
    // A completed record is written once, by the step that completed it, while its answer is here.
    SEMEL_CHECK(!record->answer.empty());
    AnswerView answer = record->answer.view();
    // Nobody is told them without the body; with it a replay is exact.
    if (answer.kept == BodyKept::NotKept && is_reserve_spent()) answer.lines = {};
    response = encode_response(answer);
  }
  const auto row = log_.append(change.key, encode_record(change.key, *record), response);
  if (!row) return row.error();
  records_.place(change.key, *row);
  return {};
}

Result<ClaimReply> DurableLedger::with_body(const ClaimRequest& request, Result<ClaimReply> reply) {
  if (!reply) return reply;
  auto* completed = std::get_if<Completed>(&*reply);
  if (!completed || completed->response) return reply;
  IdempotencyKey key = request.key;
  for (const EarlierKey& earlier : request.earlier) {
    const Record* record = records_.peek(earlier.key);
    if (record && record->reference == completed->reference) key = earlier.key;
  }
  auto response = read_body(key);
  if (!response) return response.error();
  completed->response = *std::move(response);
  return reply;
}

Result<std::optional<RecordView>> DurableLedger::with_body(
    Result<std::optional<RecordView>> found) {
  if (!found || !*found) return found;
  RecordView& view = **found;
  if (view.state != RecordView::State::Completed || view.response) return found;
  auto response = read_body(view.key);
  if (!response) return response.error();
  view.response = *std::move(response);
  return found;
}

Result<StoredResponsePtr> DurableLedger::read_body(const IdempotencyKey& key) {
  const Record* record = records_.peek(key);
  SEMEL_CHECK(record && record->row != 0);
  const auto bytes = log_.read_response(record->row);
  if (!bytes) return bytes.error();
  auto response =
      *bytes ? decode_response(**bytes) : Result<StoredResponsePtr>(Fault::RecordCorrupt);
  if (!response) {
    records_.mark_corrupt(key);
    return response.error();
  }
  records_.warm(key, KeptAnswer(*response));
  remember_body(key, *records_.peek(key));
  return response;
}

void DurableLedger::remember_body(const IdempotencyKey& key, const Record& record) {
  const std::size_t bytes = record.answer.bytes() + kWarmOverhead;
  warm_.push_back({key, record.row, bytes});
  warm_bytes_ += bytes;
  while (warm_bytes_ > kWarmBytesMax) {
    const WarmBody oldest = warm_.front();
    warm_.pop_front();
    warm_bytes_ -= oldest.bytes;
    const Record* standing = records_.peek(oldest.key);
    if (standing && standing->row == oldest.row) records_.warm(oldest.key, KeptAnswer());
  }
}

bool DurableLedger::reclaim(std::size_t rows) {
  makes_room_ = true;
  reclaim_ = std::max(reclaim_, std::min(rows, dead_rows_.size()));
  return reclaim_ < dead_rows_.size();
}

void DurableLedger::reclaim_all() {
  reclaim_ = std::numeric_limits<std::size_t>::max();
  purge_ = true;
}

Result<void> DurableLedger::tidy() {
  if (broken_) return Fault::StoreBroken;
  const bool full = is_disk_full_ || is_reserve_spent();
  const bool all = purge_ || (full && makes_room_);
  // The file may have to grow before the log can be cut; nothing is at stake while no claim is
  // open.
  if (full && makes_room_ && records_.open_cost() == 0) reserve_.give_up();
  const auto done = all ? log_.checkpoint_all() : log_.checkpoint_if_due();
  purge_ = makes_room_ = false;
  if (!done && done.error() != Fault::StoreFull) return note_fault(done.error());
  return {};
}

Fault DurableLedger::note_fault(Fault fault) {
  if (fault == Fault::StoreBroken) broken_ = true;
  return fault;
}

Result<bool> DurableLedger::acknowledge() {
  const auto done = watch_->acknowledge(durable_fence_);
  if (done) records_.trust(Ledger::Trust::Whole);
  return done;
}

void DurableLedger::describe(StoreHealth& health) const {
  health.up = !broken_;
  health.suspect = watch_->is_suspect();
  health.remark = watch_->remark();
  health.store_id = log_.store_id();
  health.commits = commits_;
  records_.describe(health);
}

}  // namespace semel
