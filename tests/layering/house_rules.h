#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/layering/source_file.h"

namespace semel::layering {

/// `path:line: what is wrong; what to do about it`.
using Complaints = std::vector<std::string>;

inline std::string complaint(const SourceFile& file, std::size_t line, std::string_view sentence) {
  return file.path + ':' + std::to_string(line) + ": " + std::string(sentence);
}

/// Rooms as bits, so that a row of a table names several.
enum Rooms : unsigned {
  kCore = 1,
  kIo = 2,
  kConfig = 4,
  kStores = 8,
  kProxy = 16,
  kExamples = 32,
  kEverything = 64,  ///< tests and bench: they may use all.
};

inline unsigned room_bit(std::string_view name) {
  struct Row {
    std::string_view name;
    unsigned bit;
  };
  static constexpr std::array kRows{
      Row{"core", kCore},        Row{"io", kIo},
      Row{"config", kConfig},    Row{"stores", kStores},
      Row{"proxy", kProxy},      Row{"examples", kExamples},
      Row{"tests", kEverything}, Row{"bench", kEverything},
  };
  for (const Row& row : kRows) {
    if (row.name == name) return row.bit;
  }
  return 0;
}

/// ARCHITECTURE.md, "Rooms and arrows": what each room may include of ours.
inline unsigned arrows_out_of(unsigned room) {
  switch (room) {
    case kCore:
      return kCore;
    case kIo:
      return kIo | kCore;
    case kConfig:
      return kConfig | kCore;
    case kStores:
      return kStores | kCore | kIo;
    case kProxy:
      return kProxy | kCore | kIo | kConfig | kStores;
    case kExamples:
      return kExamples;
    default:
      return ~0U;
  }
}

inline Complaints undrawn_arrows(const SourceFile& file) {
  Complaints found;
  if (!file.is_code()) return found;
  for (const Include& include : includes_of(file)) {
    if (!include.is_quoted) continue;
    const unsigned target = room_bit(include.name.substr(0, include.name.find('/')));
    if (target == 0) {
      found.push_back(
          complaint(file, include.line, "an include of ours names its room: \"core/key.h\""));
    } else if ((arrows_out_of(room_bit(file.room())) & target) == 0) {
      found.push_back(complaint(file, include.line,
                                "no arrow leads to " + std::string(include.name) +
                                    "; move what both need into a room below, or pass it in"));
    }
  }
  return found;
}

/// A third party, or a piece of the system, and the rooms that may know it.
struct Privilege {
  std::string_view prefix;
  unsigned rooms;
};

/// The longest matching prefix counts. What is not listed and has a folder is a new dependency.
inline constexpr unsigned kIoAndUp = kIo | kStores | kProxy;
inline constexpr Privilege kPrivileges[] = {
    {"boost/asio", kIoAndUp},
    {"boost/beast", kProxy},
    {"boost/system/", kCore | kConfig | kIoAndUp},
    {"boost/throw_exception.hpp", kCore | kConfig | kIoAndUp},
    {"unicode/", kCore},
    {"openssl/", kCore},
    {"openssl/ssl", kIoAndUp},
    {"openssl/err", kIoAndUp},
    {"openssl/x509", kIoAndUp},
    {"openssl/rand", kIoAndUp},
    {"yaml-cpp/", kConfig},
    {"sqlite3.h", kStores},
    {"xxhash.h", kStores},
    {"hiredis/", kStores},
    {"libpq-fe.h", kStores},
    {"prometheus/", kProxy},
    {"sys/", kIoAndUp | kExamples},
    {"netinet/", kIoAndUp | kExamples},
    {"arpa/", kIoAndUp | kExamples},
    {"linux/", kIoAndUp},
    // The core is pure: no waiting, no clock, no threads, no files.
    {"thread", ~kCore},
    {"mutex", ~kCore},
    {"shared_mutex", ~kCore},
    {"condition_variable", ~kCore},
    {"future", ~kCore},
    {"fstream", ~kCore},
    {"iostream", ~kCore},
    {"unistd.h", ~kCore},
    {"time.h", ~kCore},
};

inline std::optional<unsigned> rooms_of_third_party(std::string_view name) {
  const Privilege* best = nullptr;
  for (const Privilege& row : kPrivileges) {
    const bool matches = row.prefix.find_first_of("/.") == std::string_view::npos
                             ? name == row.prefix
                             : name.starts_with(row.prefix);
    if (matches && (best == nullptr || row.prefix.size() > best->prefix.size())) best = &row;
  }
  if (best != nullptr) return best->rooms;
  const bool is_system = name.find('/') == std::string_view::npos;
  return is_system ? std::optional(~0U) : std::nullopt;
}

inline Complaints strangers(const SourceFile& file) {
  Complaints found;
  const unsigned room = room_bit(file.room());
  if (!file.is_code() || room == kEverything) return found;
  for (const Include& include : includes_of(file)) {
    if (include.is_quoted) continue;
    const auto rooms = rooms_of_third_party(include.name);
    const std::string name = "<" + std::string(include.name) + ">";
    if (!rooms) {
      found.push_back(complaint(file, include.line,
                                name + " is a new dependency; do without, or write an ADR and name "
                                       "its room in tests/layering/house_rules.h"));
    } else if ((*rooms & room) == 0) {
      found.push_back(complaint(file, include.line,
                                name + " is private to another room; ask that room for what you "
                                       "need in words of ours"));
    }
  }
  return found;
}

inline Complaints clocks_in_the_core(const SourceFile& file) {
  Complaints found;
  if (file.room() != "core" || !file.is_code()) return found;
  for (const Line& line : lines_of(file.text)) {
    if (line.text.find("_clock::now") != std::string_view::npos) {
      found.push_back(
          complaint(file, line.number, "the core has no clock; take the time as an argument"));
    }
  }
  return found;
}

}  // namespace semel::layering
