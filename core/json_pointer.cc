#include "core/json_pointer.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "core/header_rules.h"
#include "core/unicode.h"

namespace semel {
namespace {

/// The reference token in NFC with `~0` and `~1` resolved. @param scratch  Overwritten where
/// needed.
std::string_view token_text(std::string_view token, std::string& scratch) {
  if (token.find('~') == token.npos && is_ascii(token)) return token;
  std::string characters;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size()) {
      characters.push_back(token[++i] == '1' ? '/' : '~');
    } else {
      characters.push_back(token[i]);
    }
  }
  scratch.clear();
  append_nfc(characters, scratch);
  return scratch;
}

/// Array indices have no leading zero (RFC 6901, section 4).
std::optional<std::uint32_t> array_index(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  std::uint32_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return index;
}

PointerAnswer find_member(const ValueTape& tape, NodeIndex object, std::string_view token) {
  std::optional<Named> named;
  bool twin = false;
  const NodeIndex end = tape.node(object).next;
  for (NodeIndex name = object + 1; name < end; name = tape.node(name + 1).next) {
    const std::string_view text = tape.stored_text(tape.node(name));
    if (text.size() != token.size()) continue;
    if (text == token) {
      named = Named{name + 1};
    } else if (same_name(text, token)) {
      twin = true;
    }
  }
  if (twin && named) return CaseTwin{};
  if (twin) return LoneTwin{};
  if (named) return *named;
  return NothingNamed{};
}

PointerAnswer find_element(const ValueTape& tape, NodeIndex array, std::string_view token) {
  const std::optional<std::uint32_t> index = array_index(token);
  if (!index || *index >= tape.node(array).size) return NothingNamed{};
  NodeIndex element = array + 1;
  for (std::uint32_t i = 0; i < *index; ++i) element = tape.node(element).next;
  return Named{element};
}

}  // namespace

PointerAnswer find(const ValueTape& tape, std::string_view pointer) {
  NodeIndex at = 0;
  std::string scratch;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view token = token_text(pointer.substr(0, pointer.find('/')), scratch);
    pointer.remove_prefix(std::min(pointer.find('/'), pointer.size()));
    PointerAnswer step = NothingNamed{};
    const ValueKind kind = tape.node(at).kind;
    if (kind == ValueKind::Object) {
      step = find_member(tape, at, token);
    } else if (kind == ValueKind::Array && (at != 0 || array_index(token))) {
      step = find_element(tape, at, token);
    } else if (at == 0) {
      return NoObject{};
    }
    const Named* named = std::get_if<Named>(&step);
    if (named == nullptr) return step;
    at = named->node;
  }
  return Named{at};
}

}  // namespace semel
