#include "proxy/records_options.h"

#include <array>
#include <vector>

namespace semel::proxy {
namespace {

using Verb = RecordsOptions::Verb;

struct VerbRow {
  std::string_view word;
  Verb verb;
  std::size_t words;  ///< That follow it.
};
constexpr std::array kVerbs{
    VerbRow{"list", Verb::List, 0},
    VerbRow{"show", Verb::Show, 1},
    VerbRow{"resolve", Verb::Resolve, 2},
    VerbRow{"forget", Verb::Forget, 1},
};

struct OptionRow {
  std::string_view word;
  std::optional<std::string> RecordsOptions::* value;
  std::array<Verb, 2> verbs;
};
constexpr std::array kOptions{
    OptionRow{"--state", &RecordsOptions::state, {Verb::List, Verb::List}},
    OptionRow{"--tenant", &RecordsOptions::tenant, {Verb::List, Verb::List}},
    OptionRow{"--note", &RecordsOptions::note, {Verb::Resolve, Verb::Forget}},
    OptionRow{"--operator", &RecordsOptions::author, {Verb::Resolve, Verb::Forget}},
    OptionRow{"--response", &RecordsOptions::response, {Verb::Resolve, Verb::Resolve}},
};

const VerbRow* verb_row(std::string_view word) {
  for (const VerbRow& row : kVerbs) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

const OptionRow* option_row(std::string_view word, Verb verb) {
  for (const OptionRow& row : kOptions) {
    if (row.word == word && (row.verbs[0] == verb || row.verbs[1] == verb)) return &row;
  }
  return nullptr;
}

}  // namespace

std::variant<RecordsOptions, std::string> parse_records_options(std::span<const std::string> args) {
  const VerbRow* const verb = args.empty() ? nullptr : verb_row(args[0]);
  if (verb == nullptr) return "say list, show, resolve or forget";
  RecordsOptions options;
  options.verb = verb->verb;
  std::vector<std::string> words;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const std::string& word = args[i];
    if (!word.starts_with("--")) {
      words.push_back(word);
      continue;
    }
    if (word == "--json") {
      options.json = true;
      continue;
    }
    const OptionRow* const row = option_row(word, options.verb);
    if (row == nullptr && word != "--config") {
      return std::string(verb->word) + " has no option " + word;
    }
    if (++i == args.size()) return word + " wants a value";
    if (row == nullptr) {
      options.config = args[i];
    } else {
      options.*row->value = args[i];
    }
  }
  if (words.size() != verb->words) {
    return std::string(verb->word) + " wants " + std::to_string(verb->words) + " words, not " +
           std::to_string(words.size());
  }
  if (options.config.empty()) return "--config CONFIG is missing";
  if (!words.empty()) options.subject = words[0];
  if (words.size() == 2) options.decision = words[1];
  const bool is_decided = options.decision == "happened" || options.decision == "did_not_happen";
  if (options.verb == Verb::Resolve && !is_decided) return "say happened or did_not_happen";
  return options;
}

}  // namespace semel::proxy
