#include "core/media_type.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/ascii.h"
#include "core/header_rules.h"

namespace semel {
namespace {

/// Takes a quoted-string off the front of `rest`; nothing where it is not closed.
std::optional<std::string> take_quoted(std::string_view& rest) {
  std::string value;
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return value;
    }
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    value.push_back(rest[i]);
  }
  return std::nullopt;
}

struct Parameter {
  std::string_view name;
  std::string value;
};

/// Takes `name=value` off the front of `rest`, up to the next semicolon; nothing where it is
/// malformed.
std::optional<Parameter> take_parameter(std::string_view& rest) {
  const std::size_t equals = rest.find('=');
  if (equals == rest.npos || !is_token(rest.substr(0, equals))) return std::nullopt;
  Parameter parameter{rest.substr(0, equals), {}};
  rest.remove_prefix(equals + 1);
  if (rest.starts_with('"')) {
    std::optional<std::string> value = take_quoted(rest);
    if (!value) return std::nullopt;
    parameter.value = std::move(*value);
  } else {
    const std::string_view value = trimmed(rest.substr(0, rest.find(';')));
    if (!is_token(value)) return std::nullopt;
    parameter.value = value;
    rest.remove_prefix(std::min(rest.find(';'), rest.size()));
  }
  rest = trimmed(rest);
  if (!rest.empty() && !rest.starts_with(';')) return std::nullopt;
  return parameter;
}

MediaKind kind_of(std::string_view type, std::string_view subtype) {
  constexpr std::string_view kSuffix = "+json";
  if (same_name(type, "multipart")) return MediaKind::Multipart;
  if (subtype.size() > kSuffix.size() &&
      same_name(subtype.substr(subtype.size() - kSuffix.size()), kSuffix)) {
    return MediaKind::Json;
  }
  if (!same_name(type, "application")) return MediaKind::Other;
  if (same_name(subtype, "json")) return MediaKind::Json;
  if (same_name(subtype, "x-www-form-urlencoded")) return MediaKind::Form;
  return MediaKind::Other;
}

}  // namespace

MediaType read_media_type(std::string_view value) {
  // What nearly every keyed request says, and says like this.
  if (same_name(value, "application/json")) return {MediaKind::Json, {}};
  const std::string_view essence = trimmed(value.substr(0, value.find(';')));
  const std::size_t slash = essence.find('/');
  if (slash == essence.npos) return {};
  const std::string_view type = essence.substr(0, slash);
  const std::string_view subtype = essence.substr(slash + 1);
  if (!is_token(type) || !is_token(subtype)) return {};
  MediaType media{kind_of(type, subtype), {}};

  bool charset_seen = false;
  std::string_view rest = value.substr(std::min(value.find(';'), value.size()));
  while (rest.starts_with(';')) {
    rest = trimmed(rest.substr(1));
    if (rest.empty() || rest.starts_with(';')) continue;
    std::optional<Parameter> parameter = take_parameter(rest);
    if (!parameter) return {media.kind == MediaKind::Multipart ? media.kind : MediaKind::Other, {}};
    if (same_name(parameter->name, "boundary")) media.boundary = std::move(parameter->value);
    if (same_name(parameter->name, "charset") && media.kind != MediaKind::Multipart) {
      if (charset_seen || !same_name(parameter->value, "utf-8")) return {};
      charset_seen = true;
    }
  }
  return media;
}

}  // namespace semel
