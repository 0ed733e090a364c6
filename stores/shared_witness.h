#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "stores/record.h"
#include "stores/state_lock.h"

namespace semel {

/// What one process knows of a store that it shares with others: which store it was, under which
/// name it writes there, and the last fence that it was told in each lane. The store holds the same
/// of each of its writers, written together with the claim; a store that says less than the process
/// knows has lost claims, and one that says more has merely not been heard.
///
/// A lane is a part of the store with a fence line of its own: a hash tag of a Redis Cluster, a
/// connection to PostgreSQL.
///
/// @thread Any, but for construction and destruction.
/// @source spec 9, "Loss detection"; docs/record-format.md, "The witness of a shared store".
class SharedWitness {
 public:
  /// Locks the folder, reads the note of the process before, or draws a name for a new one and
  /// writes it down before anything is written to the store under it.
  /// @param folder  Empty: nothing is read or written, and nothing is known after a restart.
  /// @throws FolderInUse if another process has the folder.
  /// @throws StoreError if the note cannot be read.
  explicit SharedWitness(const std::string& folder);
  /// Writes what is still to be written.
  ~SharedWitness();
  SharedWitness(const SharedWitness&) = delete;
  SharedWitness& operator=(const SharedWitness&) = delete;

  /// 32 hex digits: this process's name towards the store, the same after a restart.
  [[nodiscard]] const std::string& writer() const { return writer_; }
  /// What an operator should read, as a sentence: the note cannot be written. Empty: nothing.
  [[nodiscard]] std::string remark() const;
  /// Empty: none was met yet.
  [[nodiscard]] std::string store_id() const;
  using Lanes = std::map<std::size_t, Fence>;
  /// The store that is met from now on, and what counts as told there. Where it stands in another
  /// one's place, whoever doubted it has raised its fences above that one's: what is known of lanes
  /// stays, and goes on counting.
  void meet(const std::string& store_id, const Lanes& told = {});
  /// The highest fence that was told in this lane; 0: none.
  [[nodiscard]] Fence known(std::size_t lane) const;
  /// What is known at one moment, and of which store.
  struct Known {
    std::string store_id;
    Lanes lanes;
  };
  [[nodiscard]] Known known() const;
  /// Told, and as durable as the grade says. On the disk about a second later.
  void note(std::size_t lane, Fence fence);
  /// The latest fail-over that those who watch over `group` told of; 0: none is known.
  [[nodiscard]] std::uint64_t epoch(const std::string& group) const;
  /// On the disk about a second later. Of another group nothing is known any more.
  void note_epoch(const std::string& group, std::uint64_t epoch);

 private:
  [[nodiscard]] bool read();
  [[nodiscard]] bool parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  void keep_writing();
  void write_down(std::unique_lock<std::mutex>& lock);
  void is_news();
  void take(std::size_t lane, Fence fence);

  const StateLock lock_;
  const std::string folder_;
  const std::string path_;
  std::string writer_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string store_id_;
  std::string group_;  ///< Empty: no fail-over is known of.
  std::uint64_t epoch_ = 0;
  Lanes lanes_;
  std::string error_;  ///< Of the last write.
  bool is_written_ = true;
  bool is_idle_ = false;  ///< The scribe waits for something to write.
  bool ending_ = false;
  std::thread scribe_;  ///< A slow disk holds up nobody.
};

}  // namespace semel
