#include "config/load.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "config/check_route.h"
#include "config/read_route.h"
#include "config/read_server.h"
#include "config/yaml_reader.h"

namespace semel::config {
namespace {

std::vector<WrittenRoute> read_routes(const Mapping& top, const Config& config) {
  RouteSurroundings around{config, std::nullopt};
  if (const auto value = top.find("defaults")) around.defaults = read_defaults(*value);
  std::vector<WrittenRoute> routes;
  for (const Value& item : top.require("routes").items()) {
    routes.push_back(read_route(item, around));
  }
  if (routes.empty()) {
    top.fail_at_key("routes", "routes: is empty, so that every request gets 404; write one");
  }
  return routes;
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

Config load_file(const std::string& path, const Environment& environment) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  // A folder opens, and fails at the first read; an empty file has nothing to copy.
  if (stream.peek() != std::ifstream::traits_type::eof()) text << stream.rdbuf();
  if (!stream.is_open() || stream.bad() || text.fail()) {
    throw ConfigError(path + ":1:1: cannot be read; name a configuration file that exists");
  }
  return load_text(text.str(), path, environment);
}

Config load_text(std::string_view text, const std::string& file, const Environment& environment) {
  const YamlNode root = read_yaml(text, file, environment);
  if (root.kind != YamlNode::Kind::Mapping) {
    fail_at(file, root.place, "the document is no mapping; begin with \"version: 1\"");
  }
  const Mapping top(root, file, kTopGrammar);
  Config config;
  config.file = file;
  read_server(top, config);
  config.upstreams = read_upstreams(top.require("upstreams"));
  std::vector<WrittenRoute> routes = read_routes(top, config);
  check_routes(routes);
  for (WrittenRoute& written : routes) {
    for (std::string& warning : warnings_of(written)) config.warnings.push_back(std::move(warning));
    config.routes.push_back(std::move(written.route));
  }
  return config;
}

}  // namespace semel::config
