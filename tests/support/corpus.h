#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/json.h"

namespace semel::testing {

/// The rows of a file with one JSON value a line.
/// @throws std::runtime_error if it is missing or a line is no JSON: a corpus is never half read.
[[nodiscard]] std::vector<Json> read_rows(const std::filesystem::path& file);

/// The bytes of a text that carries one of them in each character (U+0000 to U+00FF).
[[nodiscard]] std::string to_bytes(std::string_view utf8);

/// Where other people's test data lies: the environment's SEMEL_CORPORA, else beside the checkout.
/// It may be missing: such tests are skipped by name.
[[nodiscard]] inline std::filesystem::path corpora_folder() {
  const char* folder = std::getenv("SEMEL_CORPORA");
  return folder ? std::filesystem::path(folder)
                : std::filesystem::path(SEMEL_SOURCE_DIR "/../shared/corpora");
}

}  // namespace semel::testing
