#pragma once

// What of a file is on the disk, and what is not yet: the model of power_loss.cc.

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace semel::power_loss {

using Luck = std::mt19937_64;

/// One file. What the page cache has is in the file itself; what the disk has is in another one,
/// its image. Writes make pieces of 512 bytes dirty, a sync carries them over.
///
/// A file that grew or shrank and was not synced is on the disk as long as it was, with its old
/// bytes there, or as long as it is, with zeros where no piece survived: one or the other.
class SyncedImage {
 public:
  explicit SyncedImage(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  void move_to(std::string path) { path_ = std::move(path); }

  void wrote(std::uint64_t at, std::size_t size);
  void shrank_to(std::uint64_t size);
  /// A process that has ended left it so: what differs from the image was not synced.
  void found(int live);
  [[nodiscard]] bool is_synced() const { return dirty_.empty() && shrunk_to_ == kNever; }

  /// @param live  The file itself, to be read.
  void sync(int live);
  /// Carries over what happens to have reached the disk by itself: of the dirty pieces, or of the
  /// dirty blocks of eight, none, all, or about so many in a hundred.
  void lose_power(int live, Luck& luck);

 private:
  enum class Extent : std::uint8_t { OfTheFile, OfTheImage };
  static constexpr std::uint64_t kPiece = 512;
  static constexpr std::uint64_t kNever = UINT64_MAX;

  void apply(int live, const std::set<std::uint64_t>& pieces, Extent extent);

  std::string path_;
  std::set<std::uint64_t> dirty_;
  std::uint64_t shrunk_to_ = kNever;  ///< The least length since the last sync.
};

}  // namespace semel::power_loss
