#include "tests/support/preload/synced_image.h"

#include <algorithm>
#include <array>

#include "tests/support/preload/raw_file.h"

namespace semel::power_loss {

void SyncedImage::wrote(std::uint64_t at, std::size_t size) {
  if (size == 0) return;
  for (std::uint64_t n = at / kPiece; n <= (at + size - 1) / kPiece; ++n) dirty_.insert(n);
}

void SyncedImage::shrank_to(std::uint64_t size) {
  shrunk_to_ = std::min(shrunk_to_, size);
  dirty_.erase(dirty_.lower_bound((size + kPiece - 1) / kPiece), dirty_.end());
}

void SyncedImage::found(int live) {
  const raw::File image(path_, O_RDONLY);
  const std::uint64_t size = raw::size_of(live);
  const std::uint64_t known = image.is_open() ? raw::size_of(image.fd()) : 0;
  if (size < known) shrank_to(size);
  std::array<char, kPiece> now{};
  std::array<char, kPiece> then{};
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    const auto piece = static_cast<off_t>(at);
    const ssize_t read = ::pread(live, now.data(), kPiece, piece);
    const ssize_t had = at < known ? ::pread(image.fd(), then.data(), kPiece, piece) : 0;
    if (read <= 0) return;
    const auto bytes = static_cast<std::size_t>(read);
    if (had != read || !std::equal(now.begin(), now.begin() + read, then.begin())) wrote(at, bytes);
  }
}

void SyncedImage::sync(int live) {
  apply(live, dirty_, Extent::OfTheFile);
  dirty_.clear();
  shrunk_to_ = kNever;
}

void SyncedImage::lose_power(int live, Luck& luck) {
  constexpr std::array<unsigned, 5> kChances = {0, 10, 50, 90, 100};
  const unsigned chance = kChances[luck() % kChances.size()];
  const std::uint64_t unit = luck() % 2 == 0 ? 1 : 8;
  const Extent extent = luck() % 100 < chance ? Extent::OfTheFile : Extent::OfTheImage;
  std::set<std::uint64_t> survivors;
  std::uint64_t last_unit = kNever;
  bool survives = false;
  for (const std::uint64_t piece : dirty_) {
    if (piece / unit != last_unit) survives = luck() % 100 < chance;
    last_unit = piece / unit;
    if (survives) survivors.insert(piece);
  }
  apply(live, survivors, extent);
}

void SyncedImage::apply(int live, const std::set<std::uint64_t>& pieces, Extent extent) {
  const raw::File image(path_, O_RDWR | O_CREAT);
  if (!image.is_open()) return;
  const std::uint64_t size = raw::size_of(live);
  std::uint64_t end = std::min(raw::size_of(image.fd()), shrunk_to_);
  if (extent == Extent::OfTheFile) {
    if (shrunk_to_ < raw::size_of(image.fd())) {
      raw::truncate(image.fd(), static_cast<off_t>(shrunk_to_));
    }
    raw::truncate(image.fd(), static_cast<off_t>(size));
    end = size;
  }
  std::array<char, kPiece> bytes{};
  for (const std::uint64_t piece : pieces) {
    const std::uint64_t at = piece * kPiece;
    if (at >= end) break;
    const ssize_t read = ::pread(live, bytes.data(), std::min<std::uint64_t>(kPiece, end - at),
                                 static_cast<off_t>(at));
    if (read <= 0) continue;
    raw::write_at(image.fd(), bytes.data(), static_cast<std::size_t>(read), static_cast<off_t>(at));
  }
}

}  // namespace semel::power_loss
