// From text to a tree, by yaml-cpp's events: its own node type takes duplicate keys in silence and
// follows aliases without a bound. Nothing here knows what a key means; config/yaml_reader does.
#include "config/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <optional>
#include <sstream>

#include "config/yaml_text.h"

namespace semel::config {
namespace {

using Kind = YamlNode::Kind;
using Spelling = YamlNode::Spelling;

Place place_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

std::size_t count_nodes(const YamlNode& node) {
  std::size_t count = 1;
  for (const YamlNode& item : node.items) count += count_nodes(item);
  for (const YamlMember& member : node.members) count += 1 + count_nodes(member.value);
  return count;
}

/// Builds the tree from the parser's events and refuses what only a trick would write.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, const Environment& environment)
      : file_(file), environment_(environment) {}

  [[nodiscard]] YamlNode take_root() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    node.place = place_of(mark);
    add(std::move(node), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node;
    node.kind = Kind::Scalar;
    node.place = place_of(mark);
    node.spelling = tag == "!" ? Spelling::Quoted : Spelling::Plain;
    if (tag != "!") refuse_tag(tag, node.place);
    node.text = value;
    if (!expects_key() && value.find("${") != std::string::npos) {
      node.text = expand_variables(value, file_, node.place, environment_);
      node.spelling = Spelling::Expanded;
    }
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      fail_at(file_, place_of(mark), "an alias inside the node that it names; write the value out");
    }
    count(count_nodes(found->second), place_of(mark));
    add(found->second, YAML::NullAnchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Kind::Sequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Kind::Mapping, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<YamlMember> pending;  ///< A key that waits for its value.
  };

  [[nodiscard]] bool expects_key() const {
    return !open_.empty() && open_.back().node.kind == Kind::Mapping && !open_.back().pending;
  }

  void refuse_tag(const std::string& tag, Place place) const {
    if (tag.empty() || tag == "?") return;
    fail_at(file_, place, "a YAML tag; remove it: the key decides what a value is");
  }

  void count(std::size_t nodes, Place place) {
    nodes_ += nodes;
    if (nodes_ > kNodesMax) {
      fail_at(file_, place,
              "more than " + std::to_string(kNodesMax) +
                  " values once aliases are written out; use fewer anchors");
    }
  }

  void open(Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    const Place place = place_of(mark);
    refuse_tag(tag, place);
    if (expects_key()) fail_at(file_, place, "a key must be one word; write key: value");
    Frame frame;
    frame.node.kind = kind;
    frame.node.place = place;
    frame.anchor = anchor;
    open_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    add(std::move(frame.node), frame.anchor);
  }

  void add(YamlNode node, YAML::anchor_t anchor) {
    count(1, node.place);
    if (anchor != YAML::NullAnchor) {
      count(count_nodes(node), node.place);
      anchored_[anchor] = node;
    }
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = open_.back();
    if (frame.node.kind == Kind::Sequence) {
      frame.node.items.push_back(std::move(node));
    } else if (frame.pending) {
      frame.pending->value = std::move(node);
      frame.node.members.push_back(std::move(*frame.pending));
      frame.pending.reset();
    } else {
      add_key(frame, std::move(node));
    }
  }

  void add_key(Frame& frame, YamlNode key) const {
    if (key.kind != Kind::Scalar || key.text.empty()) {
      fail_at(file_, key.place, "a key must be one word; write key: value");
    }
    if (key.text == "<<" && key.spelling == Spelling::Plain) {
      fail_at(file_, key.place, "the merge key << is not taken; write the keys out");
    }
    for (const YamlMember& member : frame.node.members) {
      if (member.key != key.text) continue;
      fail_at(file_, key.place,
              "the key \"" + key.text + "\" stands here twice, first in line " +
                  std::to_string(member.place.line) + "; keep one");
    }
    frame.pending = YamlMember{std::move(key.text), key.place, {}};
  }

  const std::string& file_;
  const Environment& environment_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, YamlNode> anchored_;
  YamlNode root_;
  std::size_t nodes_ = 0;
};

}  // namespace

void fail_at(const std::string& file, Place place, const std::string& sentence) {
  throw ConfigError(file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
                    ": " + sentence);
}

YamlNode read_yaml(std::string_view text, const std::string& file, const Environment& environment) {
  check_yaml_text(text, file);
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(file, environment);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      fail_at(file, {}, "the file is empty; begin with \"version: 1\"");
    }
    YamlNode root = builder.take_root();
    TreeBuilder second(file, environment);
    if (parser.HandleNextDocument(second)) {
      fail_at(file, second.take_root().place, "a second YAML document; keep one per file");
    }
    return root;
  } catch (const YAML::Exception& error) {
    fail_at(
        file, place_of(error.mark),
        "this is not YAML (" + error.msg + "); quote texts that hold any of { } [ ] , # or \": \"");
  }
}

}  // namespace semel::config
