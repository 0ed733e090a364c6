#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace semel::proxy {

/// `semel records`' command line, checked.
struct RecordsOptions {
  enum class Verb : std::uint8_t { List, Show, Resolve, Forget };
  Verb verb = Verb::List;
  std::string subject;   ///< The reference of show and resolve, the tenant of forget.
  std::string decision;  ///< Of resolve: `happened` or `did_not_happen`.
  std::string config;
  bool json = false;
  std::optional<std::string> state;
  std::optional<std::string> tenant;
  std::optional<std::string> note;
  std::optional<std::string> author;    ///< `--operator`.
  std::optional<std::string> response;  ///< A file.
};

inline constexpr std::string_view kRecordsUsage =
    "usage: semel records list [--state in_flight|completed|indeterminate] [--tenant TENANT]\n"
    "       semel records show REFERENCE\n"
    "       semel records resolve REFERENCE happened|did_not_happen [--note NOTE]\n"
    "                     [--operator NAME] [--response FILE]\n"
    "       semel records forget TENANT [--note NOTE] [--operator NAME]\n"
    "       all with --config CONFIG, and --json for the listener's own answer\n";

/// @return The options, or a sentence that says what is wrong.
[[nodiscard]] std::variant<RecordsOptions, std::string> parse_records_options(
    std::span<const std::string> args);

}  // namespace semel::proxy
