#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "core/header_field.h"

namespace semel::proxy {

inline constexpr std::size_t kFieldsMax = 100;
inline constexpr std::size_t kHeadBytesMax = 32 * 1024;
inline constexpr std::size_t kLineBytesMax = 8 * 1024;

/// How a message's body ends.
enum class Framing : std::uint8_t { None, Length, Chunked, UntilClose };

/// A flat table of header lines in order. Views into the connection's buffer: nothing is copied,
/// and room that is not used is not even cleared.
class FieldTable {
 public:
  void clear() { size_ = 0; }
  /// @return false when the table is full.
  bool add(HeaderField field) {
    if (size_ == kFieldsMax) return false;
    std::construct_at(slot(size_++), field);
    return true;
  }
  [[nodiscard]] std::span<const HeaderField> all() const { return {slot(0), size_}; }

 private:
  static_assert(std::is_trivially_destructible_v<HeaderField>);
  [[nodiscard]] HeaderField* slot(std::size_t i) {
    return reinterpret_cast<HeaderField*>(room_) + i;
  }
  [[nodiscard]] const HeaderField* slot(std::size_t i) const {
    return reinterpret_cast<const HeaderField*>(room_) + i;
  }
  alignas(HeaderField) std::byte room_[kFieldsMax * sizeof(HeaderField)];
  std::size_t size_ = 0;
};

/// One request's head as the byte gate let it through.
/// @owns Views into the connection's buffer; invalid once the buffer moves or is given back.
/// (`target` of
///       an absolute-form without a path is a constant.)
struct RequestHead {
  std::string_view method;
  std::string_view
      target;  ///< Origin-form, or `*` for OPTIONS; absolute-form is reduced to its path.
  std::string_view path;  ///< `target` before the first `?`.
  std::optional<std::string_view> query;
  int minor_version = 1;
  std::string_view host;
  FieldTable fields;
  Framing framing = Framing::None;  ///< None, Length or Chunked.
  std::uint64_t content_length = 0;
  bool keep_alive = true;
  bool expects_continue = false;
  bool expects_other = false;  ///< Some other expectation: 417.
  bool wants_upgrade = false;
  bool names_hop_fields = false;  ///< Connection names more than close, keep-alive and upgrade:
                                  ///< those fields must not be forwarded.
  std::size_t head_bytes = 0;     ///< From the buffer's start to behind the empty line.
};

/// One final response's head, as strictly read.
struct ResponseHead {
  std::uint16_t status = 0;
  std::string_view reason;
  int minor_version = 1;
  FieldTable fields;
  Framing framing = Framing::None;
  std::uint64_t content_length = 0;  ///< As announced, also where `framing` is None (HEAD, 304).
  bool keep_alive = true;
  bool names_hop_fields = false;  ///< As in RequestHead.
  std::size_t head_bytes = 0;
};

}  // namespace semel::proxy
