// The JSON Schema, made from the tables that the reader refuses unknown keys by: the two cannot
// disagree about a key.
#include <string>

#include "config/grammar.h"
#include "config/load.h"

namespace semel::config {
namespace {

/// Kinds of values that many keys share. `${VAR}` may stand wherever a text may.
constexpr std::string_view kSharedDefinitions = R"(
    "variable": {"type": "string", "pattern": "\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}"},
    "text": {"type": "string"},
    "name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"},
    "integer": {"anyOf": [{"type": "integer", "minimum": 0}, {"$ref": "#/$defs/variable"}]},
    "boolean": {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/variable"}]},
    "duration": {"anyOf": [{"type": "string", "pattern": "^(0|[1-9][0-9]*)(ms|s|m|h|d)$"},
                           {"$ref": "#/$defs/variable"}]},
    "size": {"anyOf": [{"type": "string", "pattern": "^(0|[1-9][0-9]*)(B|KiB|MiB|GiB)$"},
                       {"$ref": "#/$defs/variable"}]},
    "percentage": {"anyOf": [{"type": "string", "pattern": "^(100|[1-9]?[0-9])%$"},
                             {"$ref": "#/$defs/variable"}]},
    "address": {"anyOf": [{"type": "string", "pattern": "^([^:\\[\\]]+|\\[[^\\]]+\\]):[0-9]+$"},
                          {"$ref": "#/$defs/variable"}]},
    "endpoint": {"anyOf": [{"type": "string", "pattern": "^(https?://[^/?#@]+/?|unix:/.+)$"},
                           {"$ref": "#/$defs/variable"}]},
    "pointer": {"type": "string", "pattern": "^(/([^~]|~0|~1)*)?$"},
    "argument": {"anyOf": [{"$ref": "#/$defs/pointer"}, {"$ref": "#/$defs/source"}]},
    "status": {"anyOf": [{"type": "integer", "minimum": 200, "maximum": 599},
                         {"enum": ["2xx", "3xx", "4xx", "5xx"]}, {"$ref": "#/$defs/variable"}]},
    "statuses": {"type": "array", "items": {"$ref": "#/$defs/status"}})";

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result += '"';
}

/// The members of one mapping's schema, without braces.
std::string members_of(const MappingGrammar& grammar, const std::string& indent) {
  std::string properties;
  std::string required;
  for (const Key& key : grammar.keys) {
    if (!properties.empty()) properties += ",";
    properties += "\n" + indent + "  " + quoted(key.name) + ": {" + std::string(key.schema) +
                  ", \"description\": " + quoted(key.help) + "}";
    if (key.is_required()) required += (required.empty() ? "" : ", ") + quoted(key.name);
  }
  return "\"type\": \"object\", \"additionalProperties\": false, \"required\": [" + required + "]" +
         std::string(grammar.extra) + ",\n" + indent + "\"properties\": {" + properties + "}";
}

std::string make_schema() {
  std::string definitions(kSharedDefinitions);
  for (const MappingGrammar* grammar : all_mappings().subspan(1)) {
    definitions += ",\n    " + quoted(grammar->name) + ": {" + members_of(*grammar, "      ") + "}";
  }
  return "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
         "  \"title\": \"Semel configuration\",\n  " +
         members_of(*all_mappings()[0], "  ") + ",\n  \"$defs\": {" + definitions + "\n  }\n}\n";
}

}  // namespace

std::string_view json_schema() {
  static const std::string kSchema = make_schema();
  return kSchema;
}

}  // namespace semel::config
