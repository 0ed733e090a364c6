#pragma once

#include <span>
#include <string_view>

namespace semel::config {

/// One key of a mapping. The reader refuses what is not listed, `semel schema` publishes what is.
struct Key {
  std::string_view name;
  std::string_view schema;  ///< Members of its JSON Schema: `"$ref": "#/$defs/duration"`.
  std::string_view help;    ///< One sentence: default and consequence.
  /// Required keys only: what to write where it is missing.
  std::string_view example = {};
  [[nodiscard]] constexpr bool is_required() const { return !example.empty(); }
};

/// All keys that one kind of mapping takes.
struct MappingGrammar {
  std::string_view name;  ///< Of its definition in the schema.
  std::span<const Key> keys;
  std::string_view extra;  ///< More schema members, each led by a comma; may be empty.
};

extern const MappingGrammar kTopGrammar;
extern const MappingGrammar kListenGrammar;
extern const MappingGrammar kListenTlsGrammar;
extern const MappingGrammar kMetricsGrammar;
extern const MappingGrammar kAdminGrammar;
extern const MappingGrammar kAccessLogGrammar;
extern const MappingGrammar kLimitsGrammar;
extern const MappingGrammar kStoreGrammar;
extern const MappingGrammar kMemoryGrammar;
extern const MappingGrammar kSqliteGrammar;
extern const MappingGrammar kRedisGrammar;
extern const MappingGrammar kSentinelGrammar;
extern const MappingGrammar kRedisTlsGrammar;
extern const MappingGrammar kPostgresGrammar;
extern const MappingGrammar kEventsGrammar;
extern const MappingGrammar kUpstreamGrammar;
extern const MappingGrammar kUpstreamTlsGrammar;
extern const MappingGrammar kDefaultsGrammar;
extern const MappingGrammar kRouteGrammar;
extern const MappingGrammar kMatchGrammar;
extern const MappingGrammar kKeyGrammar;
extern const MappingGrammar kSourceGrammar;
extern const MappingGrammar kRecordGrammar;
extern const MappingGrammar kReplayHeadersGrammar;
extern const MappingGrammar kForwardKeyGrammar;
extern const MappingGrammar kRetryGrammar;
extern const MappingGrammar kRequestGrammar;

/// Every mapping of the grammar, the top one first.
[[nodiscard]] std::span<const MappingGrammar* const> all_mappings();

}  // namespace semel::config
