#include "tests/support/redis_server.h"

#include <signal.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "tests/support/installed.h"
#include "tests/support/socket.h"

namespace semel::testing {
namespace {

/// The tests' own user, where users are named at all: the default one may be shut out.
constexpr char kUser[] = "of_the_tests";
constexpr char kPassword[] = "known-to-all";

std::string_view word(RedisSetup::AppendOnly policy) {
  return policy == RedisSetup::AppendOnly::Always ? "always" : "everysec";
}

std::string number(std::uint16_t port) { return std::to_string(port); }

}  // namespace

bool RedisServer::is_installed() { return installed("redis-server").has_value(); }

RedisServer::RedisServer(RedisSetup setup) : setup_(std::move(setup)), port_(free_port()) {
  if (setup_.is_in_cluster) bus_port_ = free_port();
  if (setup_.has_tls) {
    tls_port_ = free_port();
    certificates_ = make_certificates(folder_.path().string());
  }
  write_files();
  start();
}

void RedisServer::write_files() const {
  std::string conf =
      "bind 127.0.0.1\n"
      "port " +
      number(port_) +
      "\n"
      "dir " +
      folder_.path().string() +
      "\n"
      "logfile " +
      folder_.file("log") +
      "\n"
      "enable-debug-command local\n"
      "save \"\"\n"
      "repl-diskless-sync-delay 0\n"
      "maxmemory " +
      setup_.maxmemory +
      "\n"
      "maxmemory-policy " +
      setup_.maxmemory_policy + "\n";
  if (setup_.append_only == RedisSetup::AppendOnly::Off) {
    conf += "appendonly no\n";
  } else {
    conf += "appendonly yes\nappendfsync " + std::string(word(setup_.append_only)) + "\n";
  }
  if (setup_.replica_of) conf += "replicaof 127.0.0.1 " + number(*setup_.replica_of) + "\n";
  if (setup_.has_tls) {
    conf += "tls-port " + number(tls_port_) + "\ntls-auth-clients no\n" + "tls-ca-cert-file " +
            certificates_->ca + "\n" + "tls-cert-file " + certificates_->certificate + "\n" +
            "tls-key-file " + certificates_->key + "\n";
  }
  if (setup_.is_in_cluster) {
    conf +=
        "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-node-timeout 1000\n"
        "cluster-port " +
        number(bus_port_) + "\n";
  }
  if (!setup_.users.empty()) {
    std::string users = "user " + std::string(kUser) + " on >" + kPassword + " ~* &* +@all\n";
    for (const std::string& line : setup_.users) users += line + "\n";
    write_file(folder_.file("users.acl"), users);
    conf += "aclfile " + folder_.file("users.acl") + "\n";
  }
  for (const std::string& line : setup_.settings) conf += line + "\n";
  write_file(folder_.file("redis.conf"), conf);
}

void RedisServer::start() {
  process_.reset();
  const std::vector<std::string> environment =
      setup_.wall != nullptr ? setup_.wall->environment() : std::vector<std::string>{};
  process_ = std::make_unique<Process>(
      Process::Command{tied_to_us({installed("redis-server").value(), folder_.file("redis.conf")}),
                       environment, folder_.file("out"), folder_.file("err")});
  const bool there =
      eventually([&] { return !process_->is_running() || answers(); }, milliseconds{20'000});
  if (!there || !process_->is_running()) {
    throw std::runtime_error("redis-server does not come up: " + log() +
                             read_file(folder_.file("out")) + read_file(folder_.file("err")));
  }
}

bool RedisServer::answers() const {
  RespClient probe = client(milliseconds{1'000});
  const std::optional<RespValue> pong = probe.ask({"PING"});
  return pong && pong->text == "PONG";
}

std::string RedisServer::url() const { return "redis://127.0.0.1:" + number(port_); }
std::string RedisServer::tls_url() const { return "rediss://localhost:" + number(tls_port_); }

void RedisServer::kill9() {
  process_->kill(SIGKILL);
  process_->wait(Deadline(milliseconds{10'000}));
}

void RedisServer::stop() {
  process_->kill(SIGCONT);
  process_->kill(SIGTERM);
  process_->wait(Deadline(milliseconds{20'000}));
}

void RedisServer::pause() { process_->kill(SIGSTOP); }
void RedisServer::resume() { process_->kill(SIGCONT); }

void RedisServer::restart() {
  stop();
  start();
}

RespClient RedisServer::client(milliseconds patience) const {
  RespClient client(port_, patience);
  if (!setup_.users.empty()) static_cast<void>(client.ask({"AUTH", kUser, kPassword}));
  return client;
}

std::string RedisServer::command(const std::vector<std::string>& words) const {
  return text_or_throw(client().ask(words), words);
}

std::string RedisServer::info(std::string_view field) const {
  std::istringstream lines(command({"INFO", "everything"}));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && line.substr(0, colon) == field) return line.substr(colon + 1);
  }
  return {};
}

}  // namespace semel::testing
