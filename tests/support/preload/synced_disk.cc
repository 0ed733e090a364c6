#include "tests/support/preload/synced_disk.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "tests/support/preload/raw_file.h"

namespace semel::power_loss {
namespace {

namespace fs = std::filesystem;

/// Images without a name on the disk; they are gone with the process.
constexpr char kNameless = '#';
/// There from a loss of power to the next start; holds the names of the files that were not synced.
constexpr char kPowerWasLost[] = "#lost";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }
std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void copy_over(const std::string& from, const std::string& to) {
  const raw::File source(from, O_RDONLY);
  // In place: the file keeps its inode.
  const raw::File target(to, O_WRONLY | O_CREAT | O_TRUNC);
  std::array<char, 65'536> bytes{};
  off_t at = 0;
  for (;;) {
    const ssize_t size = ::pread(source.fd(), bytes.data(), bytes.size(), at);
    if (size <= 0) return;
    raw::write_at(target.fd(), bytes.data(), static_cast<std::size_t>(size), at);
    at += size;
  }
}

std::vector<std::string> paths_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  return paths;
}

}  // namespace

Plan Plan::read(const char* path) {
  Plan plan;
  if (path == nullptr) return plan;
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::string text;
    if (word == "disk") file >> plan.disk;
    if (word == "cut") file >> plan.cut_at;
    if (word == "of") file >> plan.cut_of;
    if (word == "seed") file >> plan.seed;
    if (word == "lies") plan.lies = true;
    if (word == "file" && file >> text) plan.files.push_back(text);
  }
  return plan;
}

SyncedDisk::SyncedDisk(Plan plan) : plan_(std::move(plan)) {
  if (!plan_.disk.empty()) adopt();
}

bool SyncedDisk::holds(const std::string& path) const {
  return !plan_.disk.empty() &&
         std::any_of(plan_.files.begin(), plan_.files.end(),
                     [&](const std::string& prefix) { return path.starts_with(prefix); });
}

std::string SyncedDisk::on_disk(const std::string& path) const {
  return plan_.disk + "/" + name_of(path);
}

SyncedDisk::Image SyncedDisk::fresh_image() {
  fresh_ += 1;
  return std::make_shared<SyncedImage>(plan_.disk + "/" + kNameless + std::to_string(fresh_));
}

/// Of a disk that was used before, by a process that was killed: what differs from it is dirty.
void SyncedDisk::adopt() {
  if (fs::exists(plan_.disk + "/" + kPowerWasLost)) put_back();
  for (const std::string& path : paths_in(plan_.disk)) {
    if (name_of(path)[0] == kNameless) raw::unlink(path.c_str());
  }
  const bool is_new = paths_in(plan_.disk).empty();
  for (const std::string& prefix : plan_.files) {
    for (const std::string& path : paths_in(folder_of(prefix))) {
      if (!path.starts_with(prefix)) continue;
      if (is_new) copy_over(path, on_disk(path));
      const bool is_named = fs::exists(on_disk(path));
      const Image image = is_named ? std::make_shared<SyncedImage>(on_disk(path)) : fresh_image();
      if (!is_named) unsynced_.push_back({"", path, image});
      if (!is_new) image->found(raw::File(path, O_RDONLY).fd());
      files_[path] = image;
    }
    for (const std::string& image : paths_in(plan_.disk)) {
      const std::string path = folder_of(prefix) + "/" + name_of(image);
      if (!path.starts_with(prefix) || fs::exists(path)) continue;
      unsynced_.push_back({path, "", std::make_shared<SyncedImage>(image)});
    }
  }
}

void SyncedDisk::opened(const std::string& path, int fd, Opening opening) {
  const bool is_folder =
      std::any_of(plan_.files.begin(), plan_.files.end(),
                  [&](const std::string& prefix) { return folder_of(prefix) == path; });
  if (is_folder) folders_[fd] = path;
  if (!holds(path)) return;
  Image& image = files_[path];
  if (opening == Opening::Made || !image) {
    image = fresh_image();
    unsynced_.push_back({"", path, image});
  }
  open_[fd] = image;
  if (opening == Opening::Emptied) image->shrank_to(0);
  if (opening != Opening::Found) step(path);
}

void SyncedDisk::closed(int fd) {
  open_.erase(fd);
  folders_.erase(fd);
}

void SyncedDisk::wrote(int fd, std::uint64_t at, std::size_t size) {
  const Image& image = open_.at(fd);
  image->wrote(at, size);
  step(image->path());
}

void SyncedDisk::shrank(int fd, std::uint64_t size) {
  const Image& image = open_.at(fd);
  image->shrank_to(size);
  step(image->path());
}

void SyncedDisk::removed(const std::string& path) {
  unsynced_.push_back({path, "", files_[path]});
  files_.erase(path);
  step(path);
}

void SyncedDisk::renamed(const std::string& from, const std::string& to) {
  const Image image = files_.at(from);
  unsynced_.push_back({from, to, image});
  files_[to] = image;
  files_.erase(from);
  step(to);
}

bool SyncedDisk::has(int fd) const { return open_.contains(fd) || folders_.contains(fd); }

void SyncedDisk::synced(int fd) {
  step(open_.contains(fd) ? open_.at(fd)->path() : folders_.at(fd));
  if (plan_.lies) return;
  if (const auto file = open_.find(fd); file != open_.end()) {
    // The descriptor itself may be for writing alone.
    const raw::File live("/proc/self/fd/" + std::to_string(fd), O_RDONLY);
    return file->second->sync(live.fd());
  }
  const std::string& folder = folders_.at(fd);
  std::vector<Change> others;
  std::vector<Change> these;
  for (Change& change : unsynced_) {
    const std::string& path = change.to.empty() ? change.from : change.to;
    (folder_of(path) == folder ? these : others).push_back(std::move(change));
  }
  unsynced_ = std::move(these);
  carry_out(unsynced_.size());
  unsynced_ = std::move(others);
}

void SyncedDisk::carry_out(std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) {
    const Change& change = unsynced_[n];
    if (change.to.empty()) {
      raw::unlink(on_disk(change.from).c_str());
      continue;
    }
    // One that was never written and never synced is there, and empty.
    const raw::File touched(change.image->path(), O_WRONLY | O_CREAT);
    raw::rename(change.image->path().c_str(), on_disk(change.to).c_str());
    change.image->move_to(on_disk(change.to));
  }
  unsynced_.erase(unsynced_.begin(), unsynced_.begin() + static_cast<std::ptrdiff_t>(count));
}

void SyncedDisk::step(const std::string& path) {
  if (!plan_.cut_of.empty() && plan_.cut_of != name_of(path)) return;
  steps_ += 1;
  if (steps_ == plan_.cut_at) lose_power();
}

void SyncedDisk::lose_power() {
  Luck luck(plan_.seed);
  std::string unsynced;
  for (const auto& [path, image] : files_) {
    if (!image->is_synced()) unsynced += name_of(path) + "\n";
    const raw::File live(path, O_RDONLY);
    if (live.is_open()) image->lose_power(live.fd(), luck);
  }
  carry_out(luck() % (unsynced_.size() + 1));
  // What the threads that still run read is as it was: the files are put back by the next start.
  const raw::File lost(plan_.disk + "/" + kPowerWasLost, O_WRONLY | O_CREAT);
  raw::write(lost.fd(), unsynced.data(), unsynced.size());
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();
}

/// Makes the files what the disk has.
void SyncedDisk::put_back() const {
  for (const std::string& prefix : plan_.files) {
    for (const std::string& path : paths_in(folder_of(prefix))) {
      if (path.starts_with(prefix) && !fs::exists(on_disk(path))) raw::unlink(path.c_str());
    }
    for (const std::string& image : paths_in(plan_.disk)) {
      const std::string path = folder_of(prefix) + "/" + name_of(image);
      if (path.starts_with(prefix) && name_of(image)[0] != kNameless) copy_over(image, path);
    }
  }
}

}  // namespace semel::power_loss
