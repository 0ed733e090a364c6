#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::proxy {

/// Bytes that arrived and were not consumed yet, in one piece.
/// @owns Views from text() are invalid after ensure(), consume() to empty, or the buffer's end.
class Buffer {
 public:
  static constexpr std::size_t kBlock = 16 * 1024;

  [[nodiscard]] std::string_view text() const { return {bytes_.get() + begin_, end_ - begin_}; }
  [[nodiscard]] std::span<char> room() { return {bytes_.get() + end_, capacity_ - end_}; }
  [[nodiscard]] bool has_block() const { return capacity_ != 0; }
  [[nodiscard]] bool is_empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  void commit(std::size_t bytes) { end_ += bytes; }
  void consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  /// Makes room for `bytes` in all, counted from the first unconsumed one. May move everything.
  void ensure(std::size_t bytes) {
    if (capacity_ - begin_ >= bytes) return;
    const std::size_t held = end_ - begin_;
    if (capacity_ >= bytes) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, held);
    } else {
      std::size_t wanted = capacity_ == 0 ? kBlock : capacity_;
      while (wanted < bytes) wanted *= 2;
      auto larger = std::make_unique_for_overwrite<char[]>(wanted);
      if (held != 0) std::memcpy(larger.get(), bytes_.get() + begin_, held);
      bytes_ = std::move(larger);
      capacity_ = wanted;
    }
    begin_ = 0;
    end_ = held;
  }

 private:
  friend class BufferPool;
  std::unique_ptr<char[]> bytes_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// Blocks that wait for the next busy connection: an idle one holds none (docs/performance.md).
/// @thread One worker's.
class BufferPool {
 public:
  /// Gives `buffer` a block if it has none.
  void lend(Buffer& buffer) {
    if (buffer.has_block()) return;
    if (blocks_.empty()) {
      buffer.ensure(Buffer::kBlock);
      return;
    }
    buffer.bytes_ = std::move(blocks_.back());
    blocks_.pop_back();
    buffer.capacity_ = Buffer::kBlock;
    buffer.begin_ = buffer.end_ = 0;
  }
  /// Takes the block of an empty buffer back. A grown one is given to the system.
  void take_back(Buffer& buffer) {
    if (!buffer.has_block() || !buffer.is_empty()) return;
    if (buffer.capacity_ == Buffer::kBlock && blocks_.size() < kKept) {
      blocks_.push_back(std::move(buffer.bytes_));
    }
    buffer = Buffer{};
  }

 private:
  static constexpr std::size_t kKept = 256;
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace semel::proxy
