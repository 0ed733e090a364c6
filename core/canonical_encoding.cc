#include "core/canonical_encoding.h"

#include <limits>

#include "core/check.h"

namespace semel {

void CanonicalWriter::open(EncodingTag tag, std::size_t length) {
  SEMEL_CHECK(length <= std::numeric_limits<std::uint32_t>::max());
  const char head[5] = {static_cast<char>(tag), static_cast<char>(length >> 24),
                        static_cast<char>(length >> 16), static_cast<char>(length >> 8),
                        static_cast<char>(length)};
  put({head, sizeof head});
}

void CanonicalWriter::leaf(EncodingTag tag, std::string_view content) {
  open(tag, content.size());
  put(content);
}

void CanonicalWriter::put(std::string_view content) {
  if (transcript_ != nullptr) transcript_->append(content);
  if (content.size() > buffer_.size() - used_) flush();
  if (content.size() > buffer_.size()) {
    hasher_.update(content);
    return;
  }
  used_ += content.copy(buffer_.data() + used_, content.size());
}

void CanonicalWriter::flush() {
  hasher_.update({buffer_.data(), used_});
  used_ = 0;
}

Sha256Bytes CanonicalWriter::finish() {
  flush();
  return hasher_.finish();
}

}  // namespace semel
