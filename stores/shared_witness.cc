// The note of one process about a store that it shares: its text, and writing it behind the calls.
#include "stores/shared_witness.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "io/file.h"
#include "io/random.h"
#include "stores/note_lines.h"
#include "stores/open.h"
#include "stores/private_folder.h"
#include "stores/record_codec.h"

namespace semel {
namespace {

constexpr std::string_view kTitle = "semel writer 1\n";
constexpr std::size_t kBytesMax = 1024 * 1024;  ///< More than 16,384 lanes have.
constexpr std::size_t kWriterDigits = 32;
/// How often the note is written at the most.
constexpr std::chrono::seconds kPause{1};

bool is_name(std::string_view text) {
  return text.size() == kWriterDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Takes `WORD LENGTH BYTES` off the front: what a store or a group calls itself is its own affair.
std::optional<std::string> take_name(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  const std::size_t space = text.find(' ', word.size());
  if (space == std::string_view::npos) return std::nullopt;
  const auto size = number_of(text.substr(word.size(), space - word.size()));
  const std::string_view rest = text.substr(space + 1);
  if (!size || *size >= rest.size() || rest[*size] != '\n') return std::nullopt;
  text = rest.substr(*size + 1);
  return std::string(rest.substr(0, *size));
}

/// `LANE FENCE`.
std::optional<std::pair<std::size_t, Fence>> lane_of(std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const auto lane = number_of(line.substr(0, space));
  const auto fence = number_of(line.substr(space + 1));
  if (!lane || !fence) return std::nullopt;
  return std::pair{static_cast<std::size_t>(*lane), Fence{*fence}};
}

}  // namespace

SharedWitness::SharedWitness(const std::string& folder)
    : lock_(folder),
      folder_(folder),
      path_(folder.empty() ? "" : (std::filesystem::path(folder) / "writer").string()) {
  if (!folder_.empty() && read()) {
    scribe_ = std::thread([this] { keep_writing(); });
    return;
  }
  writer_ = to_hex(RandomBits().token());
  if (folder_.empty()) return;
  std::unique_lock lock(mutex_);
  write_down(lock);
  scribe_ = std::thread([this] { keep_writing(); });
}

SharedWitness::~SharedWitness() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (scribe_.joinable()) scribe_.join();
}

std::string SharedWitness::remark() const {
  const std::lock_guard lock(mutex_);
  if (error_.empty()) return "";
  return "the witness " + path_ + " cannot be written (" + error_ +
         "): a loss of the store would not be noticed after a restart";
}

std::string SharedWitness::store_id() const {
  const std::lock_guard lock(mutex_);
  return store_id_;
}

void SharedWitness::meet(const std::string& store_id, const Lanes& told) {
  const std::lock_guard lock(mutex_);
  for (const auto& [lane, fence] : told) take(lane, fence);
  if (store_id_ == store_id) return;
  store_id_ = store_id;
  is_news();
}

Fence SharedWitness::known(std::size_t lane) const {
  const std::lock_guard lock(mutex_);
  const auto found = lanes_.find(lane);
  return found == lanes_.end() ? Fence{} : found->second;
}

SharedWitness::Known SharedWitness::known() const {
  const std::lock_guard lock(mutex_);
  return {store_id_, lanes_};
}

void SharedWitness::note(std::size_t lane, Fence fence) {
  const std::lock_guard lock(mutex_);
  take(lane, fence);
}

void SharedWitness::take(std::size_t lane, Fence fence) {
  if (fence == Fence{}) return;  // Nothing was told there.
  Fence& known = lanes_[lane];
  if (fence <= known) return;
  known = fence;
  is_news();
}

std::uint64_t SharedWitness::epoch(const std::string& group) const {
  const std::lock_guard lock(mutex_);
  return group == group_ ? epoch_ : 0;
}

void SharedWitness::note_epoch(const std::string& group, std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  if (group == group_ && epoch == epoch_) return;
  group_ = group;
  epoch_ = epoch;
  is_news();
}

bool SharedWitness::read() {
  const auto text = read_file(path_, kBytesMax);
  if (!text && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (text && parse(*text)) return true;
  throw StoreError("the witness " + path_ +
                   " cannot be read: what this process knew of its store is unknown, and so is "
                   "whether the store has lost claims since; once that is cleared up, remove the "
                   "file: the next start takes the store as it is");
}

bool SharedWitness::parse(std::string_view text) {
  const std::string_view whole = text;
  if (!text.starts_with(kTitle)) return false;
  text.remove_prefix(kTitle.size());
  const auto writer = take_line(text, "writer");
  const auto store_id = take_name(text, "store ");
  if (!writer || !is_name(*writer) || !store_id) return false;
  const auto group = take_name(text, "group ");
  const auto epoch = group ? take_number(text, "epoch") : 0;
  if (!epoch) return false;
  Lanes lanes;
  while (const auto line = take_line(text, "lane")) {
    const auto lane = lane_of(*line);
    if (!lane || !lanes.insert(*lane).second) return false;
  }
  const std::string_view summed = whole.substr(0, whole.size() - text.size());
  const auto sum = take_number(text, "crc");
  if (!sum || *sum != crc32(summed) || !text.empty()) return false;
  writer_ = *writer;
  store_id_ = *store_id;
  group_ = group.value_or("");
  epoch_ = *epoch;
  lanes_ = std::move(lanes);
  return true;
}

std::string SharedWitness::text() const {
  std::string text(kTitle);
  text += "writer " + writer_ + "\n";
  text += "store " + std::to_string(store_id_.size()) + " " + store_id_ + "\n";
  if (!group_.empty()) {
    text += "group " + std::to_string(group_.size()) + " " + group_ + "\n";
    text += "epoch " + std::to_string(epoch_) + "\n";
  }
  for (const auto& [lane, fence] : lanes_) {
    text += "lane " + std::to_string(lane) + " " + std::to_string(fence.value) + "\n";
  }
  text += "crc " + std::to_string(crc32(text)) + "\n";
  return text;
}

void SharedWitness::is_news() {
  is_written_ = false;
  if (is_idle_) changed_.notify_one();
}

void SharedWitness::keep_writing() {
  std::unique_lock lock(mutex_);
  for (;;) {
    is_idle_ = true;
    changed_.wait(lock, [this] { return ending_ || !is_written_; });
    is_idle_ = false;
    if (is_written_) return;
    const bool last = ending_;
    write_down(lock);
    if (last) return;
    changed_.wait_for(lock, kPause, [this] { return ending_; });
  }
}

void SharedWitness::write_down(std::unique_lock<std::mutex>& lock) {
  const std::string fresh = text();
  is_written_ = true;
  lock.unlock();
  std::string error = make_private_folder(folder_) ? replace_file(path_, fresh)
                                                   : std::generic_category().message(errno);
  lock.lock();
  if (!error.empty()) is_written_ = false;
  error_ = std::move(error);
}

}  // namespace semel
