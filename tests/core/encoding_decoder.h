#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::testing {

/// One component of a canonical encoding, read back. Written from docs/key-format.md alone, so that
/// it proves what that page says: an encoding can be taken apart in one way only.
struct Component {
  char tag = 'X';
  std::string content;              ///< Of a leaf.
  std::vector<Component> children;  ///< Of a container; an object's are name, value, name, value.
};

/// Takes one component off the front of `bytes`; nothing where there is no well-formed one.
inline std::optional<Component> take_component(std::string_view& bytes) {
  if (bytes.size() < 5) return std::nullopt;
  Component component;
  component.tag = bytes[0];
  std::uint32_t length = 0;
  for (std::size_t i = 1; i < 5; ++i) {
    length = length << 8 | static_cast<std::uint8_t>(bytes[i]);
  }
  bytes.remove_prefix(5);
  switch (component.tag) {
    case 'X':
    case 'N':
    case 'F':
    case 'T':
      if (length != 0) return std::nullopt;
      return component;
    case 'D':
    case 'S':
    case 'B':
      if (length > bytes.size()) return std::nullopt;
      component.content = bytes.substr(0, length);
      bytes.remove_prefix(length);
      return component;
    case 'A':
    case 'O':
    case 'K': {
      const std::size_t children = component.tag == 'O' ? 2 * std::size_t{length} : length;
      for (std::size_t i = 0; i < children; ++i) {
        std::optional<Component> child = take_component(bytes);
        if (!child) return std::nullopt;
        component.children.push_back(std::move(*child));
      }
      return component;
    }
    default:
      return std::nullopt;
  }
}

/// Reads a whole encoding; nothing where a byte is left over.
inline std::optional<Component> decode(std::string_view bytes) {
  std::optional<Component> component = take_component(bytes);
  if (!component || !bytes.empty()) return std::nullopt;
  return component;
}

/// Writes a component again, by the same page.
inline std::string encode(const Component& component) {
  const bool leaf = component.children.empty();
  std::size_t length = leaf ? component.content.size() : component.children.size();
  if (component.tag == 'O') length /= 2;
  std::string bytes(1, component.tag);
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(length >> shift));
  bytes += component.content;
  for (const Component& child : component.children) bytes += encode(child);
  return bytes;
}

}  // namespace semel::testing
