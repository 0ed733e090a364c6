#include "tests/support/shared_server.h"

namespace semel::testing {

std::string_view name(SharedKind kind) { return kind == SharedKind::Redis ? "redis" : "postgres"; }

bool SharedServer::is_installed(SharedKind kind) {
  return kind == SharedKind::Redis ? RedisServer::is_installed() : PostgresServer::is_installed();
}

SharedServer::SharedServer(SharedKind kind, const MovedWall* wall) {
  if (kind == SharedKind::Redis) {
    RedisSetup setup;
    setup.wall = wall;
    redis_ = std::make_unique<RedisServer>(setup);
  } else {
    PostgresSetup setup;
    setup.wall = wall;
    // Nobody cuts the power here, and what a process had written before it was killed is written.
    // Each worker of each replica has connections of its own.
    setup.settings = {"fsync = off", "max_connections = 400"};
    postgres_ = std::make_unique<PostgresServer>(setup);
  }
}

std::uint16_t SharedServer::port() const { return redis_ ? redis_->port() : postgres_->port(); }

std::string SharedServer::yaml(std::uint16_t port, const std::string& more) const {
  const std::string number = std::to_string(port);
  if (redis_) return "redis: {url: \"redis://127.0.0.1:" + number + "\"" + more + "}";
  return "postgres: {url: \"postgres://semel@127.0.0.1:" + number + "/postgres\"" + more + "}";
}

void SharedServer::kill9() { redis_ ? redis_->kill9() : postgres_->kill9(); }
void SharedServer::pause() { redis_ ? redis_->pause() : postgres_->pause(); }
void SharedServer::resume() { redis_ ? redis_->resume() : postgres_->resume(); }
void SharedServer::restart() { redis_ ? redis_->restart() : postgres_->restart(); }

void SharedServer::lose_the_store() {
  if (redis_) {
    redis_->command({"FLUSHALL"});
  } else {
    postgres_->sql("DROP SCHEMA semel CASCADE");
  }
}

}  // namespace semel::testing
