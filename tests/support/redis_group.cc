// More than one redis-server: watched by sentinels, or joined to a cluster.
#include "tests/support/redis_group.h"

#include <signal.h>

#include <charconv>
#include <sstream>
#include <stdexcept>

#include "tests/support/installed.h"
#include "tests/support/socket.h"

namespace semel::testing {
namespace {

constexpr int kSlots = 16'384;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// Of a reply that is a flat list of names and values.
std::string value_of(const std::vector<std::string>& pairs, std::string_view name) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (pairs[i] == name) return pairs[i + 1];
  }
  return {};
}

}  // namespace

bool SentinelServer::is_installed() { return installed("redis-sentinel").has_value(); }

SentinelServer::SentinelServer(const SentinelSetup& setup)
    : master_(setup.master), port_(free_port()) {
  const std::string of_master = " " + master_ + " ";
  write_file(folder_.file("sentinel.conf"),
             "bind 127.0.0.1\nport " + std::to_string(port_) + "\ndir " + folder_.path().string() +
                 "\nlogfile " + folder_.file("log") + "\nsentinel monitor" + of_master +
                 "127.0.0.1 " + std::to_string(setup.master_port) + " " +
                 std::to_string(setup.quorum) + "\nsentinel down-after-milliseconds" + of_master +
                 std::to_string(setup.down_after.count()) + "\nsentinel failover-timeout" +
                 of_master + std::to_string(setup.failover_timeout.count()) + "\n");
  process_ = std::make_unique<Process>(Process::Command{
      tied_to_us({installed("redis-sentinel").value(), folder_.file("sentinel.conf")}),
      {},
      folder_.file("out"),
      folder_.file("err")});
  const bool there = eventually([&] {
    const std::optional<RespValue> pong = RespClient(port_, milliseconds{1'000}).ask({"PING"});
    return !process_->is_running() || (pong && pong->text == "PONG");
  });
  if (!there || !process_->is_running()) {
    throw std::runtime_error("redis-sentinel does not come up: " + read_file(folder_.file("log")) +
                             read_file(folder_.file("err")));
  }
}

std::string SentinelServer::command(const std::vector<std::string>& words) const {
  return text_or_throw(RespClient(port_).ask(words), words);
}

std::uint16_t SentinelServer::master_port() const {
  const auto address = lines_of(command({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", master_}));
  return address.size() == 2 ? static_cast<std::uint16_t>(std::stoi(address[1])) : std::uint16_t{0};
}

bool SentinelServer::knows(int replicas, int sentinels, milliseconds patience) const {
  return eventually(
      [&] {
        const auto master = lines_of(command({"SENTINEL", "MASTER", master_}));
        return value_of(master, "num-slaves") == std::to_string(replicas) &&
               value_of(master, "num-other-sentinels") == std::to_string(sentinels);
      },
      patience);
}

void SentinelServer::kill9() {
  process_->kill(SIGKILL);
  process_->wait(Deadline(milliseconds{10'000}));
}

RedisCluster::RedisCluster(std::array<RedisSetup, 3> setups) {
  constexpr auto kNodes = 3;
  for (std::size_t i = 0; i < kNodes; ++i) {
    setups.at(i).is_in_cluster = true;
    nodes_.at(i) = std::make_unique<RedisServer>(setups.at(i));
  }
  for (int i = 0; i < kNodes; ++i) {
    RedisServer& node = *nodes_.at(static_cast<std::size_t>(i));
    node.command({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    node.command({"CLUSTER", "ADDSLOTSRANGE", std::to_string(kSlots * i / kNodes),
                  std::to_string(kSlots * (i + 1) / kNodes - 1)});
    if (i == 0) continue;
    node.command({"CLUSTER", "MEET", "127.0.0.1", std::to_string(nodes_[0]->port()),
                  std::to_string(nodes_[0]->bus_port())});
  }
  if (!is_whole()) throw std::runtime_error("no whole cluster: " + nodes_[0]->log());
}

bool RedisCluster::is_whole(milliseconds patience) const {
  return eventually(
      [&] {
        for (const std::unique_ptr<RedisServer>& node : nodes_) {
          const std::string state = node->command({"CLUSTER", "INFO"});
          if (state.find("cluster_state:ok") == std::string::npos ||
              state.find("cluster_known_nodes:3") == std::string::npos) {
            return false;
          }
        }
        return true;
      },
      patience);
}

std::size_t RedisCluster::owner_of(int slot) const {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const std::string id = nodes_.at(i)->command({"CLUSTER", "MYID"});
    for (const std::string& line : lines_of(nodes_.at(i)->command({"CLUSTER", "NODES"}))) {
      if (!line.starts_with(id)) continue;
      // id address flags primary ping pong epoch state, then slots and ranges of slots.
      std::istringstream words(line);
      std::string word;
      for (int skipped = 0; skipped < 8; ++skipped) words >> word;
      while (words >> word) {
        int first = -1;
        int last = -1;
        const auto [end, bad] = std::from_chars(word.data(), word.data() + word.size(), first);
        last = first;
        if (*end == '-') std::from_chars(end + 1, word.data() + word.size(), last);
        if (first <= slot && slot <= last) return i;
      }
    }
  }
  throw std::runtime_error("nobody has slot " + std::to_string(slot));
}

void RedisCluster::begin_move(int slot, std::size_t to) {
  RedisServer& source = *nodes_.at(owner_of(slot));
  RedisServer& target = *nodes_.at(to);
  const std::string number = std::to_string(slot);
  target.command({"CLUSTER", "SETSLOT", number, "IMPORTING", source.command({"CLUSTER", "MYID"})});
  source.command({"CLUSTER", "SETSLOT", number, "MIGRATING", target.command({"CLUSTER", "MYID"})});
}

void RedisCluster::end_move(int slot, std::size_t to) {
  RedisServer& source = *nodes_.at(owner_of(slot));
  RedisServer& target = *nodes_.at(to);
  const std::string number = std::to_string(slot);
  for (;;) {
    const auto keys = lines_of(source.command({"CLUSTER", "GETKEYSINSLOT", number, "100"}));
    if (keys.empty()) break;
    std::vector<std::string> migrate{"MIGRATE", "127.0.0.1", std::to_string(target.port()), "", "0",
                                     "5000",    "KEYS"};
    migrate.insert(migrate.end(), keys.begin(), keys.end());
    source.command(migrate);
  }
  const std::string target_id = target.command({"CLUSTER", "MYID"});
  for (RedisServer* node : {&target, &source}) {
    node->command({"CLUSTER", "SETSLOT", number, "NODE", target_id});
  }
}

}  // namespace semel::testing
