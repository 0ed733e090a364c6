#include "core/canonical_encoding.h"

#include <limits>

#include "core/check.h"

namespace semel {

void CanonicalWriter::leaf(EncodingTag tag, std::size_t length, std::string_view content) {
  SEMEL_CHECK(length <= std::numeric_limits<std::uint32_t>::max());
  if (buffer_.size() - used_ < kHeadBytes + content.size()) flush();
  char* const head = buffer_.data() + used_;
  head[0] = static_cast<char>(tag);
  head[1] = static_cast<char>(length >> 24);
  head[2] = static_cast<char>(length >> 16);
  head[3] = static_cast<char>(length >> 8);
  head[4] = static_cast<char>(length);
  used_ += kHeadBytes;
  if (buffer_.size() - used_ < content.size()) {
    flush();
    absorb(content);
    return;
  }
  used_ += content.copy(buffer_.data() + used_, content.size());
}

void CanonicalWriter::absorb(std::string_view bytes) {
  if (transcript_ != nullptr) transcript_->append(bytes);
  hasher_.update(bytes);
}

void CanonicalWriter::flush() {
  absorb({buffer_.data(), used_});
  used_ = 0;
}

Sha256Bytes CanonicalWriter::finish() {
  flush();
  return hasher_.finish();
}

}  // namespace semel
