// Every wrong configuration under golden/ is refused with exactly the message beside it. The
// messages were written from the specification; a new check brings its file.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/load.h"

namespace semel::config {
namespace {

const std::filesystem::path kGolden = SEMEL_SOURCE_DIR "/tests/config/golden";

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> wrong_configurations() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, WrongConfigurationNamesPlaceAndCure) {
  const std::string file = GetParam() + ".yaml";
  const std::string expected = read(kGolden / (GetParam() + ".err"));
  const Environment empty = [](const std::string&) { return std::nullopt; };
  try {
    static_cast<void>(load_text(read(kGolden / file), file, empty));
    FAIL() << file << " was accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()) + "\n", expected);
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& row) {
  std::string name = row.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(wrong_configurations()), test_name);

}  // namespace
}  // namespace semel::config
