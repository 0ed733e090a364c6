#include "core/value_tape.h"

#include <limits>

#include "core/check.h"
#include "core/unicode.h"

namespace semel {
namespace {

constexpr std::size_t kKeptNodes = 4096;
constexpr std::size_t kKeptBytes = 64 * 1024;

std::uint32_t narrow(std::size_t value) { return static_cast<std::uint32_t>(value); }

char32_t hex4(std::string_view digits) {
  char32_t value = 0;
  for (const char c : digits.substr(0, 4)) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  return value;
}

char unescaped(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;  // The quote, the backslash and the slash stand for themselves.
  }
}

}  // namespace

void append_unescaped(std::string_view raw, std::string& out) {
  while (true) {
    const std::size_t backslash = raw.find('\\');
    out.append(raw.substr(0, backslash));
    if (backslash == raw.npos) return;
    raw.remove_prefix(backslash + 1);
    if (raw.front() != 'u') {
      out.push_back(unescaped(raw.front()));
      raw.remove_prefix(1);
      continue;
    }
    char32_t unit = hex4(raw.substr(1));
    raw.remove_prefix(5);
    if (unit >= 0xD800 && unit <= 0xDBFF) {
      unit = 0x10000 + ((unit - 0xD800) << 10) + (hex4(raw.substr(2)) - 0xDC00);
      raw.remove_prefix(6);
    }
    append_utf8(unit, out);
  }
}

void ValueTape::restart(std::string_view source) {
  SEMEL_CHECK(source.size() < std::numeric_limits<std::uint32_t>::max());
  source_ = source;
  nodes_.clear();
  decoded_.clear();
  if (nodes_.capacity() > kKeptNodes) nodes_.shrink_to_fit();
  if (decoded_.capacity() > kKeptBytes) decoded_.shrink_to_fit();
  if (scratch_.capacity() > kKeptBytes) scratch_ = std::string();
}

std::string_view ValueTape::text(const ValueNode& node, std::string& scratch) const {
  const std::string_view stored = stored_text(node);
  if (node.form != TextForm::Raw) return stored;
  std::string characters;
  append_unescaped(stored, characters);
  scratch.clear();
  append_nfc(characters, scratch);
  return scratch;
}

NodeIndex ValueTape::add_normal(std::string_view text) {
  const std::size_t offset = decoded_.size();
  SEMEL_CHECK(offset + text.size() < std::numeric_limits<std::uint32_t>::max());
  decoded_.append(text);
  return add(ValueKind::Text, TextForm::Normal, offset, text.size());
}

void ValueTape::normalise(NodeIndex index) {
  ValueNode& node = nodes_[index];
  if (node.form != TextForm::Raw) return;
  scratch_.clear();
  append_unescaped(stored_text(node), scratch_);
  const std::size_t offset = decoded_.size();
  append_nfc(scratch_, decoded_);
  node = {node.kind, TextForm::Normal, narrow(offset), narrow(decoded_.size() - offset), node.next};
}

}  // namespace semel
