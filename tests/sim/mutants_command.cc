// `semel_sim --mutants`: reads the words that follow, and hunts.
#include <charconv>
#include <cstdio>
#include <string>

#include "tests/sim/mutants.h"

namespace semel::sim {
namespace {

constexpr std::string_view kUsage =
    "usage: semel_sim --mutants [--seeds N] [--jobs N] [--only NAME] [--survivors FILE]\n"
    "       semel_sim --mutants cells-without-laws [--seeds N] [--jobs N]\n";

bool read_number(std::string_view text, std::uint64_t& value) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() && value > 0;
}

bool read_word(std::string_view word, std::string_view value, Hunt& hunt) {
  std::uint64_t number = 0;
  if (word == "--only") {
    hunt.only = value;
    return mutant_number(value).has_value();
  }
  if (word == "--survivors") {
    hunt.survivors_file = value;
    return true;
  }
  if (!read_number(value, number)) return false;
  if (word == "--seeds") {
    hunt.seeds = number;
    return true;
  }
  hunt.jobs = static_cast<unsigned>(number);
  return word == "--jobs" && number <= 64;
}

}  // namespace

int hunt_mutants(std::span<char* const> words) {
  Hunt hunt;
  hunt.survivors_file = SEMEL_SOURCE_DIR "/tests/sim/mutants/survivors.txt";
  const bool without_laws = !words.empty() && std::string_view(words[0]) == "cells-without-laws";
  if (without_laws) words = words.subspan(1);
  bool good = words.size() % 2 == 0;
  for (std::size_t at = 0; good && at < words.size(); at += 2) {
    good = read_word(words[at], words[at + 1], hunt);
  }
  if (!good) {
    std::fputs(std::string(kUsage).c_str(), stderr);
    return 2;
  }
  if (without_laws) {
    hunt_cells_without_laws(hunt);
    return 0;
  }
  const bool named = hunt_named_mutants(hunt);
  const bool cells = !hunt.only.empty() || hunt_cell_mutants(hunt);
  return named && cells ? 0 : 1;
}

}  // namespace semel::sim
