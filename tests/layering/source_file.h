#pragma once

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace semel::layering {

/// One file of the repository, its path relative to the root.
struct SourceFile {
  std::string path;
  std::string text;

  /// The folder it lives in: `core`; empty for a file of the root.
  [[nodiscard]] std::string_view room() const {
    const auto slash = path.find('/');
    return slash == std::string::npos ? std::string_view{}
                                      : std::string_view(path).substr(0, slash);
  }
  [[nodiscard]] bool is_header() const { return path.ends_with(".h"); }
  [[nodiscard]] bool is_code() const { return is_header() || path.ends_with(".cc"); }
};

/// One line of a file, counted from 1.
struct Line {
  std::size_t number = 0;
  std::string_view text;
};

inline std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back({lines.size() + 1, text.substr(0, end)});
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// One `#include`, as written between its quotes or brackets.
struct Include {
  std::size_t line = 0;
  std::string_view name;
  bool is_quoted = false;
};

inline std::vector<Include> includes_of(const SourceFile& file) {
  static constexpr std::string_view kDirective = "#include ";
  std::vector<Include> includes;
  for (const Line& line : lines_of(file.text)) {
    if (!line.text.starts_with(kDirective)) continue;
    const std::string_view rest = line.text.substr(kDirective.size());
    const bool is_quoted = rest.starts_with('"');
    const auto end = rest.find(is_quoted ? '"' : '>', 1);
    if (end != std::string_view::npos) {
      includes.push_back({line.number, rest.substr(1, end - 1), is_quoted});
    }
  }
  return includes;
}

/// Every text file of the repository that people write: code, documents, scripts, configuration.
/// What is built, and corpora that tests read, are left out.
inline std::vector<SourceFile> read_tree(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  static constexpr std::array<std::string_view, 15> kFolders{
      "core", "io",      "config", "stores", "proxy",  "examples", "tests", "bench",
      "docs", "scripts", "tools",  "cmake",  "deploy", ".ci",      "."};
  static constexpr std::array<std::string_view, 8> kText{".cc",    ".h",    ".md",  ".txt",
                                                         ".cmake", ".yaml", ".yml", ""};
  std::vector<SourceFile> files;
  const auto take = [&](const fs::path& path) {
    const std::string relative = fs::relative(path, root).generic_string();
    const bool is_text = std::ranges::find(kText, path.extension().string()) != kText.end();
    if (!is_text || relative.find("/corpus/") != std::string::npos) return;
    std::ifstream stream(path, std::ios::binary);
    files.push_back({relative, {std::istreambuf_iterator<char>(stream), {}}});
  };
  for (const std::string_view folder : kFolders) {
    if (!fs::is_directory(root / folder)) continue;
    if (folder == ".") {
      for (const auto& entry : fs::directory_iterator(root)) {
        // In a linked worktree `.git` is a file of the tool, not of the project.
        if (entry.is_regular_file() && entry.path().filename() != ".git") take(entry.path());
      }
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file()) take(entry.path());
    }
  }
  return files;
}

}  // namespace semel::layering
