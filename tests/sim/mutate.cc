// Makes the mutated twins of production sources: `semel_mutate ROOT OUT DEF... -- SOURCE...`.
//
// A definition names an exact text of one source, which has to stand there exactly once, and what
// replaces it; `$ON` in it is true while that mutant is switched on. So no mutant outlives the code
// that it was made of: the build fails until somebody has looked at it.
//
//   mutant NAME
//     What goes wrong, in one sentence.
//   in proxy/exchange.cc
//   <  a line that stands there, or a part of one
//   >  what stands there instead
//
// Several `<` lines, and several `>` lines, are one text each; several `in`s may follow. OUT gets
// ROOM_FILE.cc for each SOURCE, and mutant_table.cc with the names.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Edit {
  std::string file;
  std::string find;
  std::string replace;
};

struct MutantDefinition {
  std::string name;
  std::string sentence;
  std::vector<Edit> edits;
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path + " cannot be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!(file << text)) throw std::runtime_error(path + " cannot be written");
}

void append_line(std::string& text, std::string_view line) {
  if (!text.empty()) text += '\n';
  text += line;
}

/// One definition file, line by line.
class DefinitionReader {
 public:
  explicit DefinitionReader(std::string path) : path_(std::move(path)) {}

  void read(std::vector<MutantDefinition>& all) {
    std::istringstream lines(read_file(path_));
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      take(line, all);
    }
  }

 private:
  void take(std::string_view line, std::vector<MutantDefinition>& all) {
    if (line.empty() || line.front() == '#') return;
    if (line.starts_with("mutant ")) {
      all.push_back({std::string(line.substr(7)), {}, {}});
      return;
    }
    if (all.empty()) throw complaint("a definition begins with `mutant NAME`");
    MutantDefinition& mutant = all.back();
    if (line.starts_with("in ")) {
      mutant.edits.push_back({std::string(line.substr(3)), {}, {}});
    } else if (line.starts_with("  ")) {
      append_line(mutant.sentence, line.substr(2));
    } else if (line.starts_with("< ") || line.starts_with("> ")) {
      if (mutant.edits.empty()) throw complaint("`in FILE` is missing");
      Edit& edit = mutant.edits.back();
      append_line(line.front() == '<' ? edit.find : edit.replace, line.substr(2));
    } else {
      throw complaint("neither `mutant`, `in`, `<`, `>` nor a sentence");
    }
  }

  [[nodiscard]] std::runtime_error complaint(const char* words) const {
    return std::runtime_error(path_ + ":" + std::to_string(number_) + ": " + words);
  }

  std::string path_;
  int number_ = 0;
};

std::string with_switch(std::string text, std::size_t number) {
  const std::string call = "::semel::sim::is_mutated(" + std::to_string(number) + ")";
  for (auto at = text.find("$ON"); at != std::string::npos; at = text.find("$ON", at)) {
    text.replace(at, 3, call);
  }
  return text;
}

void apply(const MutantDefinition& mutant, std::size_t number,
           std::map<std::string, std::string>& sources) {
  if (mutant.edits.empty()) throw std::runtime_error(mutant.name + " changes nothing");
  for (const Edit& edit : mutant.edits) {
    const auto source = sources.find(edit.file);
    if (source == sources.end()) {
      throw std::runtime_error(mutant.name + ": " + edit.file +
                               " is not among the mutated sources of CMakeLists.txt");
    }
    std::string& text = source->second;
    const auto at = text.find(edit.find);
    if (edit.find.empty() || at == std::string::npos) {
      throw std::runtime_error(mutant.name + ": " + edit.file + " does not say any more:\n" +
                               edit.find + "\nLook at the code and write the mutant anew.");
    }
    if (text.find(edit.find, at + 1) != std::string::npos) {
      throw std::runtime_error(mutant.name + ": " + edit.file + " says more than once:\n" +
                               edit.find);
    }
    text.replace(at, edit.find.size(), with_switch(edit.replace, number));
  }
}

std::string quoted(std::string_view text) {
  std::string literal = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') literal += '\\';
    literal += each == '\n' ? ' ' : each;
  }
  return literal + '"';
}

std::string table_of(const std::vector<MutantDefinition>& all) {
  std::string text =
      "#include \"tests/sim/mutant_switch.h\"\n\nnamespace semel::sim {\n\n"
      "constexpr MutantRow kRows[] = {\n";
  for (const MutantDefinition& mutant : all) {
    text += "    {" + quoted(mutant.name) + ", " + quoted(mutant.sentence) + ", " +
            quoted(mutant.edits.front().file) + "},\n";
  }
  return text +
         "};\n\nstd::span<const MutantRow> mutant_rows() { return kRows; }\n\n"
         "}  // namespace semel::sim\n";
}

void run(const std::vector<std::string>& words) {
  const auto end = std::ranges::find(words, "--");
  if (words.size() < 2 || end == words.end()) {
    throw std::runtime_error("usage: semel_mutate ROOT OUT DEF... -- SOURCE...");
  }
  const std::string& root = words[0];
  const std::string& out = words[1];
  std::vector<MutantDefinition> all;
  for (auto def = words.begin() + 2; def != end; ++def) DefinitionReader(*def).read(all);
  std::map<std::string, std::string> sources;
  for (auto source = end + 1; source != words.end(); ++source) {
    sources.emplace(*source, read_file(root + '/' + *source));
  }
  for (std::size_t number = 0; number < all.size(); ++number) apply(all[number], number, sources);
  for (const auto& [name, text] : sources) {
    std::string flat = name;
    std::ranges::replace(flat, '/', '_');
    write_file(out + '/' + flat, "#include \"tests/sim/mutant_switch.h\"\n#line 1 " +
                                     quoted(root + '/' + name) + '\n' + text);
  }
  write_file(out + "/mutant_table.cc", table_of(all));
}

}  // namespace

int main(int count, char** given) {
  try {
    run({given + 1, given + count});
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "semel_mutate: %s\n", failure.what());
    return 1;
  }
}
