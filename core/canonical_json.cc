#include "core/canonical_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/decimal.h"
#include "core/json_text.h"

namespace semel {
namespace {

/// Member names of one object in canonical order. Names are stored decoded, and UTF-8 sorts by byte
/// as it does by code point.
std::vector<NodeIndex> sorted_names(const ValueTape& tape, NodeIndex object) {
  std::vector<NodeIndex> names;
  names.reserve(tape.node(object).size);
  const NodeIndex end = tape.node(object).next;
  for (NodeIndex name = object + 1; name < end; name = tape.node(name + 1).next) {
    names.push_back(name);
  }
  std::sort(names.begin(), names.end(), [&tape](NodeIndex a, NodeIndex b) {
    return tape.stored_text(tape.node(a)) < tape.stored_text(tape.node(b));
  });
  return names;
}

/// Walks one value in canonical order and tells a visitor what it meets. Recursion is bounded by
/// the reader's depth limit.
template <class Visitor>
class Walk {
 public:
  Walk(const ValueTape& tape, Visitor& visitor) : tape_(tape), visitor_(visitor) {}

  void value(NodeIndex index) {
    const ValueNode& node = tape_.node(index);
    switch (node.kind) {
      case ValueKind::Null:
        return visitor_.word(EncodingTag::Null, "null");
      case ValueKind::False:
        return visitor_.word(EncodingTag::False, "false");
      case ValueKind::True:
        return visitor_.word(EncodingTag::True, "true");
      case ValueKind::Number:
        decimal_.clear();
        append_canonical_decimal(tape_.stored_text(node), decimal_);
        return visitor_.decimal(decimal_);
      case ValueKind::Text:
        return visitor_.text(tape_.text(node, scratch_));
      case ValueKind::Array:
        return array(index);
      case ValueKind::Object:
        return object(index);
    }
  }

 private:
  void array(NodeIndex index) {
    const ValueNode& node = tape_.node(index);
    visitor_.open(EncodingTag::Array, node.size);
    for (NodeIndex element = index + 1; element < node.next; element = tape_.node(element).next) {
      if (element != index + 1) visitor_.separate();
      value(element);
    }
    visitor_.close(EncodingTag::Array);
  }

  void object(NodeIndex index) {
    visitor_.open(EncodingTag::Object, tape_.node(index).size);
    bool first = true;
    for (const NodeIndex name : sorted_names(tape_, index)) {
      if (!first) visitor_.separate();
      first = false;
      visitor_.name(tape_.stored_text(tape_.node(name)));
      value(name + 1);
    }
    visitor_.close(EncodingTag::Object);
  }

  const ValueTape& tape_;
  Visitor& visitor_;
  std::string scratch_;
  std::string decimal_;
};

struct ToEncoding {
  CanonicalWriter& writer;
  void word(EncodingTag tag, std::string_view) { writer.open(tag); }
  void decimal(std::string_view canonical) { writer.decimal(canonical); }
  void text(std::string_view utf8) { writer.text(utf8); }
  void name(std::string_view utf8) { writer.text(utf8); }
  void open(EncodingTag tag, std::size_t count) { writer.open(tag, count); }
  void separate() {}
  void close(EncodingTag) {}
};

struct ToText {
  std::string out;
  void word(EncodingTag, std::string_view word) { out.append(word); }
  void decimal(std::string_view canonical) {
    const bool whole = canonical.ends_with("e0");
    out.append(canonical.substr(0, canonical.size() - (whole ? 2 : 0)));
  }
  void text(std::string_view utf8) { append_json_string(out, utf8); }
  void name(std::string_view utf8) {
    append_json_string(out, utf8);
    out.push_back(':');
  }
  void open(EncodingTag tag, std::size_t) { out.push_back(tag == EncodingTag::Array ? '[' : '{'); }
  void separate() { out.push_back(','); }
  void close(EncodingTag tag) { out.push_back(tag == EncodingTag::Array ? ']' : '}'); }
};

}  // namespace

void encode_value(const ValueTape& tape, NodeIndex index, CanonicalWriter& writer) {
  ToEncoding visitor{writer};
  Walk<ToEncoding>(tape, visitor).value(index);
}

std::string canonical_text(const ValueTape& tape, NodeIndex index) {
  ToText visitor;
  Walk<ToText>(tape, visitor).value(index);
  return std::move(visitor.out);
}

}  // namespace semel
