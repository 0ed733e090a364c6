#include "tests/support/corpus.h"

#include <fstream>
#include <stdexcept>

namespace semel::testing {

std::vector<Json> read_rows(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error(file.string() + " cannot be read");
  std::vector<Json> rows;
  for (std::string line; std::getline(stream, line);) {
    rows.push_back(Json::parse(line));
    if (rows.back().is_absent()) {
      throw std::runtime_error(file.string() + ": a line is no JSON: " + line.substr(0, 80));
    }
  }
  return rows;
}

std::string to_bytes(std::string_view utf8) {
  std::string bytes;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    if (lead < 0x80) {
      bytes += utf8[i];
      continue;
    }
    if ((lead != 0xC2 && lead != 0xC3) || i + 1 == utf8.size()) {
      throw std::runtime_error("a character above U+00FF is no byte");
    }
    const auto next = static_cast<unsigned char>(utf8[++i]);
    bytes += static_cast<char>((lead & 0x03) << 6 | (next & 0x3F));
  }
  return bytes;
}

}  // namespace semel::testing
