// The witness as a file: its text, and replacing it so that a power loss leaves one or the other.
#include "stores/witness.h"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "io/file.h"
#include "stores/note_lines.h"
#include "stores/private_folder.h"

namespace semel {
namespace {

constexpr std::string_view kTitle = "semel witness 1\n";
constexpr std::size_t kBytesMax = 1'024;  ///< More than any note has.

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
  const auto text = read_file(path_, kBytesMax);
  if (!text) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<WitnessNote>();
    return Fault::RecordCorrupt;
  }
  auto note = parse(*text);
  if (!note) return Fault::RecordCorrupt;
  return note;
}

std::string WitnessFile::write(const WitnessNote& note) const {
  if (!make_private_folder(folder_)) return std::generic_category().message(errno);
  return replace_file(path_, text_of(note));
}

}  // namespace semel
