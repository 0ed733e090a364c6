// Judges what Redis servers say about themselves: what an acknowledged write is worth there, and
// whether records may lie there at all.
#include "stores/redis_grade.h"

#include <algorithm>
#include <charconv>

namespace semel {
namespace {

/// What survives the loss of the machine's memory; the greater the more.
int rank(const RedisFacts& server) {
  if (!server.has_aof) return 0;
  if (server.fsync == "always") return 3;
  return server.fsync == "everysec" ? 2 : 1;
}

std::string words_of(const RedisFacts& server) {
  if (!server.has_aof) return "no append-only file: a crash loses what no snapshot has";
  if (server.fsync == "always") return "append-only file, fsync before each answer";
  if (server.fsync == "everysec") {
    return "append-only file, fsync each second: a power loss takes up to two seconds of claims";
  }
  return "append-only file, synced when the system likes: a power loss takes what it had not "
         "written";
}

int major_of(const std::string& version) {
  int major = 0;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major;
}

}  // namespace

std::string redis_grade(const std::vector<RedisFacts>& servers, int wait_replicas) {
  if (servers.empty()) return "unknown: no server has answered yet";
  const auto least =
      std::min_element(servers.begin(), servers.end(),
                       [](const RedisFacts& a, const RedisFacts& b) { return rank(a) < rank(b); });
  const auto fewest = std::min_element(
      servers.begin(), servers.end(),
      [](const RedisFacts& a, const RedisFacts& b) { return a.replicas < b.replicas; });
  std::string grade = words_of(*least) + "; ";
  const std::string replicas =
      std::to_string(fewest->replicas) + (fewest->replicas == 1 ? " replica" : " replicas");
  if (wait_replicas == 0) {
    grade += replicas + ", none waited for";
    if (fewest->replicas > 0) grade += ": a fail-over may lose claims";
  } else {
    grade += std::to_string(wait_replicas) + " of " + replicas + " waited for";
    if (static_cast<std::size_t>(wait_replicas) < fewest->replicas) {
      grade += ": a fail-over to another one may lose claims";
    }
  }
  return grade;
}

std::string redis_shortage(const RedisFacts& server, int wait_replicas) {
  if (server.replicas >= static_cast<std::size_t>(wait_replicas)) return "";
  return server.node + " has " + std::to_string(server.replicas) +
         " replicas that are connected, and `wait_replicas` asks for " +
         std::to_string(wait_replicas);
}

std::string redis_objection(const RedisFacts& server) {
  // An old one does not know what tells a script that ends a claim from one that begins it.
  if (major_of(server.version) < 7) {
    return server.node + " is Redis " + server.version + ": version 7.0 or later is needed";
  }
  if (server.eviction != "noeviction") {
    const std::string policy = server.eviction.empty() ? "does not say its maxmemory-policy"
                                                       : "has maxmemory-policy " + server.eviction;
    return server.node + " " + policy +
           ": it would drop claims in silence; set `maxmemory-policy noeviction`";
  }
  return "";
}

}  // namespace semel
