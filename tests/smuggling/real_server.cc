#include "tests/smuggling/real_server.h"

#include <signal.h>

#include <array>
#include <filesystem>
#include <stdexcept>

#include "tests/support/installed.h"
#include "tests/support/json.h"
#include "tests/support/socket.h"

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kApacheModules[] = "/usr/lib/apache2/modules";

/// @param most  The last part is what is left once there are so many.
std::vector<std::string> split(std::string_view text, char separator, std::size_t most = SIZE_MAX) {
  std::vector<std::string> parts;
  while (parts.size() + 1 < most) {
    const std::size_t end = text.find(separator);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

std::string replaced(std::string text, std::string_view mark, std::string_view value) {
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + value.size())) {
    text.replace(at, mark.size(), value);
  }
  return text;
}

std::string from_hex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

/// nginx's `escape=json` leaves bytes beyond ASCII as they are and escapes nothing that JSON's
/// strings would not.
std::string from_json(const std::string& escaped) {
  std::string bytes;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] != '\\') {
      bytes += escaped[i];
    } else if (escaped[i + 1] == 'u') {
      bytes += from_hex(escaped.substr(i + 4, 2));
      i += 5;
    } else {
      constexpr std::string_view kNames = "nrtbf";
      const std::size_t which = kNames.find(escaped[++i]);
      bytes += which == kNames.npos ? escaped[i] : "\n\r\t\b\f"[which];
    }
  }
  return bytes;
}

}  // namespace

std::string_view name(ServerKind kind) {
  constexpr std::array<std::string_view, 4> kNames{"nginx", "haproxy", "apache", "node"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<std::string> RealServer::program(ServerKind kind) {
  constexpr std::array<const char*, 4> kPrograms{"nginx", "haproxy", "apache2", "node"};
  return installed(kPrograms[static_cast<std::size_t>(kind)]);
}

RealServer::RealServer(ServerKind kind) : kind_(kind), port_(free_port()) {
  // Apache's children are another user, where root starts it.
  fs::permissions(folder_.path(), fs::perms::all);
  for (const char* file : {"nginx.conf", "haproxy.cfg", "apache.conf", "seen.cgi"}) copy(file);
  fs::permissions(folder_.path() / "seen.cgi", fs::perms::all);
  const bool tells_on_stdout = kind == ServerKind::Haproxy;
  process_ =
      std::make_unique<Process>(Process::Command{command(),
                                                 {},
                                                 folder_.file(tells_on_stdout ? "seen" : "out"),
                                                 folder_.file("err"),
                                                 /*leads_group=*/true});
  const bool accepts = eventually([this] {
    return !process_->is_running() ||
           Socket::connect_to(port_, Deadline(milliseconds{0})).is_open();
  });
  if (!accepts || !process_->is_running()) {
    throw std::runtime_error(std::string(name(kind)) + " does not come up: " +
                             read_file(folder_.file("out")) + read_file(folder_.file("err")));
  }
}

RealServer::~RealServer() { stop(); }

void RealServer::stop() {
  process_->kill(SIGTERM);
  process_->wait(Deadline(milliseconds{10'000}));
}

void RealServer::copy(const std::string& template_name) const {
  std::string text = read_file(SEMEL_SOURCE_DIR "/tests/smuggling/servers/" + template_name);
  text = replaced(std::move(text), "@FOLDER@", folder_.path().string());
  text = replaced(std::move(text), "@PORT@", std::to_string(port_));
  text = replaced(std::move(text), "@MODULES@", kApacheModules);
  write_file(folder_.file(template_name), text);
}

std::vector<std::string> RealServer::command() const {
  const std::string program_file = program(kind_).value();
  switch (kind_) {
    case ServerKind::Nginx:
      return {program_file, "-c", folder_.file("nginx.conf"), "-e", folder_.file("nginx.error")};
    case ServerKind::Haproxy:
      return {program_file, "-db", "-f", folder_.file("haproxy.cfg")};
    case ServerKind::Apache:
      return {program_file, "-DFOREGROUND", "-f", folder_.file("apache.conf")};
    case ServerKind::Node:
      return {program_file, SEMEL_SOURCE_DIR "/tests/smuggling/servers/node.js",
              std::to_string(port_), folder_.file("seen")};
  }
  return {};
}

std::vector<SeenRequest> RealServer::seen() const {
  std::vector<SeenRequest> all;
  for (const std::string& line : split(read_file(folder_.file("seen")), '\n')) {
    std::vector<std::string> parts = split(line, '\t');
    // haproxy's own notices share its standard output.
    if (parts.size() < 2 || parts[0].find_first_not_of("0123456789") != std::string::npos) continue;
    const int status = std::stoi(parts[0]);
    parts.erase(parts.begin());
    for (std::string& part : parts) {
      part = kind_ == ServerKind::Nginx ? from_json(part) : from_hex(part);
    }
    if (kind_ == ServerKind::Apache) parts = split(parts[0], '\0', 5);
    parts.resize(5);
    all.push_back({status, parts[0], parts[1], parts[2], parts[3], parts[4]});
  }
  if (kind_ == ServerKind::Apache) add_refused(all);
  return all;
}

void RealServer::add_refused(std::vector<SeenRequest>& all) const {
  for (const std::string& line : split(read_file(folder_.file("access")), '\n')) {
    const std::vector<std::string> parts = split(line, '\t');
    if (parts.size() != 2 || parts[0] == "200") continue;
    SeenRequest refused;
    refused.status = std::stoi(parts[0]);
    refused.method = parts[1];
    all.push_back(std::move(refused));
  }
}

}  // namespace semel::testing
