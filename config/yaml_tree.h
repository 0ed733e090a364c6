#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"

namespace semel::config {

/// Where something stands in the file; both count from 1.
struct Place {
  int line = 1;
  int column = 1;
};

struct YamlMember;

/// One node of the document: aliases are copied in, `${VAR}` is replaced.
struct YamlNode {
  enum class Kind : std::uint8_t { Null, Scalar, Sequence, Mapping };
  enum class Spelling : std::uint8_t {
    Plain,     ///< `8080`: may stand for a number or a truth value.
    Quoted,    ///< `"8080"`: a text.
    Expanded,  ///< Came out of the environment: means whatever the key asks for.
  };
  Kind kind = Kind::Null;
  Spelling spelling = Spelling::Plain;
  Place place;
  std::string text;                 ///< Scalar only.
  std::vector<YamlNode> items;      ///< Sequence only.
  std::vector<YamlMember> members;  ///< Mapping only, in the file's order, each key once.
};

struct YamlMember {
  std::string key;
  Place place;
  YamlNode value;
};

/// Nodes after aliases are copied in: more is an anchor bomb, not a configuration.
inline constexpr std::size_t kNodesMax = 50'000;
inline constexpr std::size_t kTextBytesMax = 4 * 1024 * 1024;

/// Throws `file:line:column: sentence`.
[[noreturn]] void fail_at(const std::string& file, Place place, const std::string& sentence);

/// Parses exactly one document, strictly: UTF-8, no tab in an indentation, no duplicate key, no
/// merge key, no tag, no alias of a node inside itself.
/// @throws ConfigError
[[nodiscard]] YamlNode read_yaml(std::string_view text, const std::string& file,
                                 const Environment& environment);

}  // namespace semel::config
