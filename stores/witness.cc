// The witness as a file: its text, and replacing it so that a power loss leaves one or the other.
#include "stores/witness.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "stores/private_folder.h"

namespace semel {
namespace {

constexpr std::string_view kTitle = "semel witness 1\n";
constexpr std::size_t kBytesMax = 1'024;  ///< More than any note has.

/// A descriptor that is closed in time.
class File {
 public:
  File(const std::string& path, int flags, int mode = 0)
      : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

std::string text_of(const WitnessNote& note) {
  std::string text(kTitle);
  text += "store " + note.store_id + "\n";
  text += "fence " + std::to_string(note.fence.value) + "\n";
  text += "device " + std::to_string(note.device) + "\n";
  text += "inode " + std::to_string(note.inode) + "\n";
  text += "boot " + note.boot_id + "\n";
  text += note.suspect ? "suspect yes\n" : "suspect no\n";
  return text;
}

/// Takes the value of the line `name value` off the front.
std::optional<std::string> take_line(std::string_view& text, std::string_view name) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || text.substr(0, name.size()) != name || end <= name.size() ||
      text[name.size()] != ' ') {
    return std::nullopt;
  }
  std::string value(text.substr(name.size() + 1, end - name.size() - 1));
  text.remove_prefix(end + 1);
  return value;
}

std::optional<std::uint64_t> take_number(std::string_view& text, std::string_view name) {
  const auto value = take_line(text, name);
  std::uint64_t number = 0;
  if (!value) return std::nullopt;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc{} || end != value->data() + value->size()) return std::nullopt;
  return number;
}

std::optional<WitnessNote> parse(std::string_view text) {
  if (!text.starts_with(kTitle)) return std::nullopt;
  text.remove_prefix(kTitle.size());
  const auto store_id = take_line(text, "store");
  const auto fence = take_number(text, "fence");
  const auto device = take_number(text, "device");
  const auto inode = take_number(text, "inode");
  const auto boot_id = take_line(text, "boot");
  const auto suspect = take_line(text, "suspect");
  if (!store_id || !fence || !device || !inode || !boot_id || !suspect || !text.empty()) {
    return std::nullopt;
  }
  if (*suspect != "yes" && *suspect != "no") return std::nullopt;
  return WitnessNote{*store_id, Fence{*fence}, *device, *inode, *boot_id, *suspect == "yes"};
}

/// True once all of it is on the disk.
bool write_whole(const std::string& path, std::string_view text) {
  const File file(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file.descriptor() < 0) return false;
  while (!text.empty()) {
    const ssize_t size = ::write(file.descriptor(), text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
  return ::fsync(file.descriptor()) == 0;
}

/// A rename is on the disk once its folder is.
bool sync_folder(const std::string& path) {
  const File folder(path, O_RDONLY | O_DIRECTORY);
  return folder.descriptor() >= 0 && ::fsync(folder.descriptor()) == 0;
}

}  // namespace

std::string in_words(const WitnessNote& note) {
  return "store " + note.store_id + ", fence " + std::to_string(note.fence.value) + ", device " +
         std::to_string(note.device) + ", inode " + std::to_string(note.inode);
}

std::string loss_between(const WitnessNote& known, const WitnessNote& found) {
  if (known.store_id != found.store_id) return "it is another store than the witness knows";
  if (found.fence < known.fence) return "it is behind its witness, as an older copy would be";
  const bool moved = known.inode != found.inode ||
                     (known.boot_id == found.boot_id && known.device != found.device);
  if (moved) return "it is another file than the witness knows, as a copy would be";
  return "";
}

WitnessFile::WitnessFile(const std::string& folder)
    : folder_(folder), path_((std::filesystem::path(folder) / "witness").string()) {}

Result<std::optional<WitnessNote>> WitnessFile::read() const {
  const File file(path_, O_RDONLY);
  if (file.descriptor() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<WitnessNote>();
    return Fault::RecordCorrupt;
  }
  std::string text(kBytesMax, '\0');
  const ssize_t size = ::read(file.descriptor(), text.data(), text.size());
  if (size < 0) return Fault::RecordCorrupt;
  auto note = parse(std::string_view(text).substr(0, static_cast<std::size_t>(size)));
  if (!note) return Fault::RecordCorrupt;
  return note;
}

std::string WitnessFile::write(const WitnessNote& note) const {
  const std::string fresh = path_ + ".new";
  if (make_private_folder(folder_) && write_whole(fresh, text_of(note)) &&
      ::rename(fresh.c_str(), path_.c_str()) == 0 && sync_folder(folder_)) {
    return "";
  }
  return std::generic_category().message(errno);
}

}  // namespace semel
