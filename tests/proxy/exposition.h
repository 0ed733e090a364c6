#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::testing {

inline constexpr double kAbsent = -1;

/// A page as Prometheus reads it (exposition format 0.0.4), with every rule that it may break told.
struct Exposition {
  struct Family {
    std::string type;
    std::string help;
  };
  std::map<std::string, Family> families;
  std::map<std::string, double> samples;  ///< By `name{label="value",...}`, labels sorted.
  std::vector<std::string> errors;
  std::size_t lines = 0;

  [[nodiscard]] double operator[](const std::string& series) const {
    const auto at = samples.find(series);
    return at == samples.end() ? kAbsent : at->second;
  }
};

class ExpositionReader {
 public:
  explicit ExpositionReader(std::string_view page) {
    if (!page.ends_with('\n')) fail("the page does not end with a line feed");
    while (!page.empty()) {
      const std::size_t end = std::min(page.find('\n'), page.size() - 1);
      line_ = page.substr(0, end);
      page.remove_prefix(end + 1);
      ++read_.lines;
      line_.starts_with("#") ? read_comment() : read_sample();
    }
    for (const auto& [name, family] : read_.families) {
      if (!sampled_.contains(name)) fail(name + " has no sample");
    }
  }
  [[nodiscard]] Exposition take() { return std::move(read_); }

 private:
  void fail(std::string why) { read_.errors.push_back(std::string(line_) + ": " + std::move(why)); }

  static bool is_name(std::string_view text, bool colons) {
    if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
    return std::all_of(text.begin(), text.end(), [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || (colons && c == ':');
    });
  }

  std::string_view word() {
    const std::size_t end = std::min(line_.find(' '), line_.size());
    const std::string_view text = line_.substr(0, end);
    line_.remove_prefix(std::min(end + 1, line_.size()));
    return text;
  }

  void read_comment() {
    word();
    const std::string_view kind = word();
    const std::string name(word());
    if (!is_name(name, true)) fail("no metric's name");
    if (kind == "HELP") {
      if (!read_.families.emplace(name, Exposition::Family{"", std::string(line_)}).second) {
        fail("a second HELP");
      }
      return;
    }
    if (kind != "TYPE") return fail("neither HELP nor TYPE");
    if (line_ != "counter" && line_ != "gauge" && line_ != "histogram") fail("no type");
    const auto family = read_.families.find(name);
    if (family == read_.families.end()) return fail("TYPE before HELP");
    if (!family->second.type.empty()) fail("a second TYPE");
    if (line_ == "counter" && !name.ends_with("_total")) fail("a counter ends with _total");
    family->second.type = line_;
    current_ = name;
  }

  /// Reads `{name="value",...}`. @return sorted, so that a repeated series is found.
  std::map<std::string, std::string> read_labels() {
    std::map<std::string, std::string> labels;
    if (!line_.starts_with('{')) return labels;
    line_.remove_prefix(1);
    while (!line_.empty() && !line_.starts_with('}')) {
      const std::string name(line_.substr(0, line_.find('=')));
      if (!is_name(name, false)) fail("no label's name");
      line_.remove_prefix(std::min(name.size() + 1, line_.size()));
      std::string value;
      std::size_t at = 1;
      for (; at < line_.size() && line_[at] != '"'; ++at) {
        if (line_[at] == '\\') ++at;
        if (at < line_.size()) value += line_[at];
      }
      if (!line_.starts_with('"') || at >= line_.size()) fail("no quoted value");
      line_.remove_prefix(std::min(at + 1, line_.size()));
      if (!labels.emplace(name, value).second) fail("a repeated label");
      if (line_.starts_with(',')) line_.remove_prefix(1);
    }
    line_.remove_prefix(std::min<std::size_t>(1, line_.size()));
    return labels;
  }

  void read_sample() {
    const std::string name(line_.substr(0, line_.find_first_of("{ ")));
    line_.remove_prefix(name.size());
    const auto family = read_.families.find(current_);
    if (family == read_.families.end()) return fail("a sample before its family");
    const bool is_histogram = family->second.type == "histogram";
    const std::string_view rest = std::string_view(name).substr(
        std::min(name.size(), name.starts_with(current_) ? current_.size() : 0));
    if (is_histogram ? rest != "_bucket" && rest != "_sum" && rest != "_count" : !rest.empty()) {
      fail("not of the family " + current_);
    }
    sampled_.insert(current_);
    std::string series = name;
    std::string separator = "{";
    for (const auto& [label, value] : read_labels()) {
      series += separator + label + "=\"" + value + "\"";
      separator = ",";
    }
    if (separator == ",") series += "}";
    if (!line_.starts_with(' ')) fail("no space before the value");
    line_.remove_prefix(std::min<std::size_t>(1, line_.size()));
    const std::string number(line_);
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0') fail("no number");
    if (!read_.samples.emplace(series, value).second) fail("a repeated series: " + series);
  }

  Exposition read_;
  std::string_view line_;
  std::string current_;
  std::set<std::string> sampled_;
};

}  // namespace semel::testing
