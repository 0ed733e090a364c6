#include "proxy/admin_token.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "io/file.h"
#include "io/random.h"

namespace semel::proxy {
namespace {

constexpr std::size_t kTokenBytes = 32;

std::string token_file(const config::Config& config) { return config.state_dir + "/admin.token"; }

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error(path + ": " + why);
}

void make_folder(const std::string& folder) {
  const std::filesystem::path path(folder);
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    fail("state_dir: cannot make " + folder, std::strerror(errno));
  }
}

/// Written whole and then named, so that nobody ever reads half a token.
void write_token(const std::string& path) {
  RandomBits random;
  std::array<std::uint8_t, kTokenBytes> bits{};
  random.fill(bits.data(), bits.size());
  const std::string line = to_hex(bits.data(), bits.size()) + "\n";
  const std::string draft = path + "." + std::to_string(::getpid());
  ::unlink(draft.c_str());
  const File file(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  if (file.descriptor() < 0 || !write_all(file, line) ||
      ::rename(draft.c_str(), path.c_str()) != 0) {
    const std::string cause = std::strerror(errno);
    ::unlink(draft.c_str());
    fail(path, "cannot write the admin token: " + cause);
  }
}

std::string read_token(const std::string& path) {
  const File file(path, O_RDONLY | O_NOFOLLOW);
  struct stat what{};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &what) != 0) {
    fail(path, std::string("cannot read the admin token: ") + std::strerror(errno));
  }
  if (!S_ISREG(what.st_mode)) fail(path, "is no file; remove it");
  if ((what.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    fail(path, "others than its owner may read the admin token; chmod 600 it");
  }
  std::array<char, 4096> bytes{};
  const ssize_t size = ::read(file.descriptor(), bytes.data(), bytes.size());
  std::string token(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  const bool is_sound =
      std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (token.empty() || !is_sound || token.size() > 1024) {
    fail(path, "holds no token; remove it, and the next start writes one");
  }
  return token;
}

}  // namespace

std::string take_admin_token(const config::Config& config) {
  if (!config.admin->token.empty()) return config.admin->token;
  const std::string path = token_file(config);
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0) {
    make_folder(config.state_dir);
    write_token(path);
  }
  return read_token(path);
}

std::string read_admin_token(const config::Config& config) {
  return config.admin->token.empty() ? read_token(token_file(config)) : config.admin->token;
}

}  // namespace semel::proxy
