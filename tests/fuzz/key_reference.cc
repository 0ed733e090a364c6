// The key once more, as a reader of docs/key-format.md would compute it.
#include "tests/fuzz/key_reference.h"

#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

#include "tests/fuzz/json_reference.h"

namespace semel::fuzz {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

std::string component(char type, std::size_t length, std::string_view content = {}) {
  std::string out(1, type);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(length >> shift & 0xFFU);
  return out.append(content);
}

std::string octets(std::string_view bytes) { return component('B', bytes.size(), bytes); }
std::string text(std::string_view utf8) { return component('S', utf8.size(), utf8); }
std::string absent() { return component('X', 0); }

/// @param members  By name: sorted as the page wants them.
std::string object(const std::map<std::string, std::string>& members) {
  std::string content;
  for (const auto& [name, value] : members) content += text(name) + value;
  return component('O', members.size(), content);
}

std::string encoded(const JsonTree& tree) {
  using Kind = JsonTree::Kind;
  std::string content;
  switch (tree.kind) {
    case Kind::Null:
      return component('N', 0);
    case Kind::False:
      return component('F', 0);
    case Kind::True:
      return component('T', 0);
    case Kind::Number:
      return component('D', tree.text.size(), tree.text);
    case Kind::Text:
      return text(tree.text);
    case Kind::Array:
      for (const JsonTree& item : tree.items) content += encoded(item);
      return component('A', tree.items.size(), content);
    case Kind::Object:
      for (std::size_t i = 0; i < tree.names.size(); ++i) {
        content += text(tree.names[i]) + encoded(tree.items[i]);
      }
      return component('O', tree.names.size(), content);
  }
  return absent();
}

/// Unreserved characters decoded, the other escapes in upper case; absent where one is broken.
std::optional<std::string> normal_query(std::string_view query) {
  std::string out;
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (query[i] != '%') {
      out += query[i];
      continue;
    }
    std::size_t byte = 0;
    for (std::size_t k = 1; k <= 2; ++k) {
      const char c = i + k < query.size() ? query[i + k] : '?';
      const std::size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
      if (digit == std::string_view::npos) return std::nullopt;
      byte = byte * 16 + (digit < 16 ? digit : digit - 6);
    }
    constexpr std::string_view kUnreserved =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    const char decoded = static_cast<char>(byte);
    constexpr std::string_view kUpper = "0123456789ABCDEF";
    if (kUnreserved.find(decoded) != kUnreserved.npos) {
      out += decoded;
    } else {
      out += {'%', kUpper[byte / 16], kUpper[byte % 16]};
    }
    i += 2;
  }
  return out;
}

std::string ascii_folded(std::string word) {
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return word;
}

/// What a pointer finds. `found` stays null where there is nothing.
/// @return false where a member beside the named one differs from it by ASCII case only.
bool follow(const JsonTree& root, std::string_view pointer, const JsonTree*& found) {
  const JsonTree* node = &root;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t size = std::min(pointer.find('/'), pointer.size());
    const std::string token(pointer.substr(0, size));
    pointer.remove_prefix(size);
    const JsonTree* next = nullptr;
    if (node->kind == JsonTree::Kind::Array && token.size() == 1 && token[0] >= '0' &&
        token[0] <= '9') {
      const auto index = static_cast<std::size_t>(token[0] - '0');
      if (index < node->items.size()) next = &node->items[index];
    }
    bool twin = false;
    for (std::size_t i = 0; i < node->names.size(); ++i) {
      const std::string& name = node->names[i];
      if (name == token) next = &node->items[i];
      twin = twin || (name != token && ascii_folded(name) == ascii_folded(token));
    }
    if (!next) return true;
    if (twin) return false;
    node = next;
  }
  found = node;
  return true;
}

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  std::string hex;
  for (const unsigned char byte : digest) hex += {kHex[byte >> 4U], kHex[byte & 15U]};
  return hex;
}

std::string key_of(const KeyedCall& call, std::string_view arguments) {
  std::string path;
  for (const std::string& segment : call.segments) path += octets(segment);
  std::string frame = component('K', 9);
  frame += octets("semel-key/1");
  frame += absent();  // the key version
  frame += octets("derived");
  frame += octets(call.tenant);
  frame += call.run ? octets(*call.run) : absent();
  frame += octets("book");
  frame += octets(call.method);
  frame += component('A', call.segments.size(), path);
  return sha256_hex(frame.append(arguments));
}

std::string key_of_fields(const KeyedCall& call, const JsonTree& tree) {
  std::map<std::string, std::string> fields;
  if (tree.names.empty()) return "body-ambiguous";
  bool underivable = false;
  for (const std::string& pointer : call.pointers) {
    const JsonTree* found = nullptr;
    if (!follow(tree, pointer, found)) return "body-ambiguous";
    underivable = underivable || !found;
    if (found) fields["body:" + pointer] = encoded(*found);
  }
  return underivable ? "key-underivable" : key_of(call, object(fields));
}

}  // namespace

std::string reference_key(const KeyedCall& call) {
  std::string body = absent();
  std::optional<JsonTree> tree;
  if (!call.body.empty() && call.body_type == KeyedCall::BodyType::Bytes) body = octets(call.body);
  if (!call.body.empty() && call.body_type == KeyedCall::BodyType::Json) {
    tree = read_json_tree(call.body);
    if (!tree) return "body-ambiguous";
    body = encoded(*tree);
  }
  if (!call.pointers.empty()) {
    return tree ? key_of_fields(call, *tree) : "key-underivable";
  }
  std::string query = absent();
  if (call.query) {
    const std::optional<std::string> normal = normal_query(*call.query);
    if (!normal) return "bad-request";
    query = octets(*normal);
  }
  return key_of(call, object({{"body", body}, {"headers", component('O', 0)}, {"query", query}}));
}

}  // namespace semel::fuzz
