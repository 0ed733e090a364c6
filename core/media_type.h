#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace semel {

/// What a Content-Type says about how a body is to be read for its key.
enum class MediaKind : std::uint8_t {
  Json,       ///< `application/json` or `+json`, in UTF-8.
  Form,       ///< `application/x-www-form-urlencoded`, in UTF-8.
  Multipart,  ///< `multipart/*`: its boundary is drawn anew on every attempt.
  Other,      ///< Anything else, none at all, or one that cannot be read.
};

struct MediaType {
  MediaKind kind = MediaKind::Other;
  std::string boundary;  ///< Of a multipart; empty where it names none.
};

/// Reads a Content-Type value. A charset other than UTF-8 makes any type `Other`.
/// @source RFC 9110, section 8.3.
[[nodiscard]] MediaType read_media_type(std::string_view value);

}  // namespace semel
