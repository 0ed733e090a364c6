#include "stores/piece_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "core/check.h"

namespace semel {
namespace {

constexpr std::size_t kFirstBlock = 64 * 1024;
/// One page of the processor's large kind: one fault fills it, and one entry of its cache finds it.
constexpr std::size_t kLargestBlock = 2 * 1024 * 1024;

}  // namespace

void* PiecePool::take(std::size_t bytes) {
  SEMEL_CHECK(bytes > 0 && bytes <= kPieceMax);
  const std::size_t grains = (bytes + kGrain - 1) / kGrain;
  const std::lock_guard lock(mutex_);
  Free*& first = free_[grains - 1];
  if (first != nullptr) {
    Free* const taken = first;
    first = taken->next;
    return taken;
  }
  if (unused_bytes_ < grains * kGrain) add_block();
  std::byte* const taken = unused_;
  unused_ += grains * kGrain;
  unused_bytes_ -= grains * kGrain;
  return taken;
}

void PiecePool::give_back(void* piece, std::size_t bytes) noexcept {
  const std::size_t grains = (bytes + kGrain - 1) / kGrain;
  const std::lock_guard lock(mutex_);
  Free*& first = free_[grains - 1];
  first = new (piece) Free{first};
}

void PiecePool::add_block() {
  // Small at first: a store of few records is to stay small.
  const std::size_t bytes =
      block_bytes_ == 0 ? kFirstBlock : std::min(block_bytes_ * 2, kLargestBlock);
  Block block(std::aligned_alloc(bytes, bytes));
  if (block == nullptr) throw std::bad_alloc();
  if (bytes == kLargestBlock) ::madvise(block.get(), bytes, MADV_HUGEPAGE);
  unused_ = static_cast<std::byte*>(block.get());
  blocks_.push_back(std::move(block));
  unused_bytes_ = block_bytes_ = bytes;
}

void PiecePool::Freeing::operator()(void* block) const { std::free(block); }

}  // namespace semel
