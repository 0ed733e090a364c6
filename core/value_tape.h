#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

enum class ValueKind : std::uint8_t { Null, False, True, Number, Text, Array, Object };

/// How a node's text becomes the characters that count.
enum class TextForm : std::uint8_t {
  Plain,   ///< Lies in the source and counts as it is: ASCII without escapes, or a number.
  Raw,     ///< Lies in the source with JSON escapes or beyond ASCII: to be unescaped, then NFC.
  Normal,  ///< Lies in the tape's own memory, decoded and in NFC.
};

/// One value, or one member name. Members of an object are name, value, name, value, ...
struct ValueNode {
  ValueKind kind = ValueKind::Null;
  TextForm form = TextForm::Plain;
  std::uint32_t offset = 0;  ///< Of the text; of a container, where it opens in the source.
  std::uint32_t size = 0;    ///< Bytes of text; of a container, its elements or members.
  std::uint32_t next = 0;    ///< Index of the first node behind this value.
};

using NodeIndex = std::uint32_t;

/// One body as a flat row of nodes in document order, node 0 its root. No node is allocated alone
/// and no text is copied that can be pointed at, so that a value nobody named costs its reading
/// only.
/// @owns The nodes and the decoded texts. The source stays the caller's and must outlive the
/// reading.
class ValueTape {
 public:
  /// Forgets everything and points at another source, at most 4 GiB. Keeps memory up to a bound.
  void restart(std::string_view source);

  [[nodiscard]] const ValueNode& node(NodeIndex index) const { return nodes_[index]; }
  [[nodiscard]] NodeIndex end() const { return static_cast<NodeIndex>(nodes_.size()); }

  /// The characters of a text or the digits of a number, as they lie: decoded and in NFC unless
  /// Raw.
  [[nodiscard]] std::string_view stored_text(const ValueNode& node) const {
    const char* home = node.form == TextForm::Normal ? decoded_.data() : source_.data();
    return {home + node.offset, node.size};
  }
  /// The characters that count. @param scratch  Overwritten where the text must be decoded.
  [[nodiscard]] std::string_view text(const ValueNode& node, std::string& scratch) const;

  /// Opens a value; `close` completes it when its children are in.
  NodeIndex open(ValueKind kind, std::size_t offset) {
    return add(kind, TextForm::Plain, offset, 0);
  }
  void close(NodeIndex index, std::size_t children) {
    nodes_[index].size = static_cast<std::uint32_t>(children);
    nodes_[index].next = end();
  }
  /// Adds a number or a text that lies in the source.
  NodeIndex add(ValueKind kind, TextForm form, std::size_t offset, std::size_t size) {
    const NodeIndex index = end();
    nodes_.push_back({kind, form, static_cast<std::uint32_t>(offset),
                      static_cast<std::uint32_t>(size), index + 1});
    return index;
  }
  /// Adds a text that is decoded and in NFC already.
  NodeIndex add_normal(std::string_view text);
  /// Decodes a Raw text in place: member names, which are compared at once.
  void normalise(NodeIndex index);

 private:
  std::string_view source_;
  std::vector<ValueNode> nodes_;
  std::string decoded_;
  std::string scratch_;
};

/// Appends the content of a JSON string with its escapes resolved.
/// @param raw  Without quotes, and valid: json_reader has read it.
void append_unescaped(std::string_view raw, std::string& out);

}  // namespace semel
