#include "core/json_view.h"

namespace semel {

std::optional<JsonView> JsonView::member(std::string_view name) const {
  for (auto& [found, value] : members()) {
    if (found == name) return value;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  std::vector<std::pair<std::string, JsonView>> found;
  if (kind() != ValueKind::Object) return found;
  NodeIndex at = at_ + 1;
  for (std::uint32_t i = 0; i < tape_->node(at_).size; ++i) {
    const NodeIndex value = tape_->node(at).next;
    found.emplace_back(JsonView(*tape_, at).text(), JsonView(*tape_, value));
    at = tape_->node(value).next;
  }
  return found;
}

std::vector<JsonView> JsonView::items() const {
  std::vector<JsonView> found;
  if (kind() != ValueKind::Array) return found;
  NodeIndex at = at_ + 1;
  for (std::uint32_t i = 0; i < tape_->node(at_).size; ++i) {
    found.emplace_back(*tape_, at);
    at = tape_->node(at).next;
  }
  return found;
}

std::string JsonView::text() const {
  const ValueNode& node = tape_->node(at_);
  if (node.kind != ValueKind::Text && node.kind != ValueKind::Number) return {};
  const std::string_view stored = tape_->stored_text(node);
  if (node.form != TextForm::Raw) return std::string(stored);
  std::string text;
  append_unescaped(stored, text);
  return text;
}

}  // namespace semel
