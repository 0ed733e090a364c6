// Runs a fuzz target over a committed corpus, as a plain test: every file, and every beginning of
// every file, because inputs that end too early are what parsers get wrong.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace {

constexpr std::size_t kBeginningsMax = 2048;

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// @return how many files were run. One that fails ends the process, as under the fuzzer.
std::size_t replay(const std::filesystem::path& folder) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::vector<std::uint8_t> input = read_file(entry.path());
    std::fprintf(stderr, "%s\n", entry.path().c_str());
    LLVMFuzzerTestOneInput(input.data(), input.size());
    for (std::size_t size = 0; size < input.size() && size < kBeginningsMax; ++size) {
      // A copy of its own, so that a sanitizer sees a read behind the end.
      const std::vector<std::uint8_t> beginning(input.begin(),
                                                input.begin() + static_cast<std::ptrdiff_t>(size));
      LLVMFuzzerTestOneInput(beginning.data(), beginning.size());
    }
    ++files;
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || !std::filesystem::is_directory(argv[1])) {
    std::fprintf(stderr, "the corpus folder is missing: %s\n", argc == 2 ? argv[1] : "(none)");
    return 1;
  }
  const std::size_t files = replay(argv[1]);
  std::fprintf(stderr, "%zu inputs and their beginnings\n", files);
  return files > 0 ? 0 : 1;
}
