// `semel check`: the configuration in words. Reads only; nothing is opened, asked or sent.
#include "proxy/cli_check.h"

#include <iomanip>
#include <ostream>

#include "config/load.h"
#include "config/read_statuses.h"
#include "config/units.h"
#include "core/source_value.h"
#include "proxy/unbuilt.h"

namespace semel::proxy {
namespace {

using config::to_text;

std::string_view word(Mode mode) {
  switch (mode) {
    case Mode::Enforce:
      return "enforce";
    case Mode::Shadow:
      return "shadow";
    case Mode::Off:
      return "off";
  }
  return "off";
}

std::string_view word(ClientKey client_key) {
  switch (client_key) {
    case ClientKey::Ignore:
      return "ignored";
    case ClientKey::Optional:
      return "honoured where it is sent";
    case ClientKey::Required:
      return "required";
  }
  return "ignored";
}

std::string list(const std::vector<ValueSource>& sources) {
  std::string text;
  for (const ValueSource& source : sources) {
    text += (text.empty() ? "" : ", ") + spoken_name(source);
  }
  return text;
}

std::string methods_of(const Route& route) {
  std::string text;
  for (const std::string& method : route.methods) text += (text.empty() ? "" : ",") + method;
  return text.empty() ? "any method" : text;
}

/// What two requests must have in common to be one call.
std::string recipe_of(const Route& route) {
  const KeyRecipe& key = route.key;
  std::string text = "tenant (" + spoken_name(*key.tenant) + ") + operation " + route.name +
                     " + method + " + (key.path == PathInKey::Concrete ? "concrete path" : "route");
  if (key.client_key == ClientKey::Required) return text + " + the client's own key";
  text += key.run ? " + run (" + spoken_name(*key.run) + ")" : " + no run";
  text += " + ";
  text += key.fields.empty() ? "the whole request" : list(key.fields);
  return text;
}

std::string forward_of(const ForwardKey& forward) {
  if (forward.value == ForwardKey::Value::Off) return "no key";
  const bool is_derived = forward.value == ForwardKey::Value::Derived;
  return std::string(is_derived ? "the derived key" : "the client's key") + " in " +
         forward.header + (forward.quoted ? ", quoted" : "") +
         (forward.fence ? ", and Semel-Fence" : "");
}

std::string statuses_of(const StatusSet& statuses) {
  return statuses.none() ? "no status" : to_text(statuses);
}

void print_line(std::ostream& out, std::string_view what, const std::string& text) {
  out << "  " << std::left << std::setw(16) << what << text << '\n';
}

void print_keyed(std::ostream& out, const Route& route) {
  print_line(out, "mode", std::string(word(route.mode)));
  print_line(out, "lease", to_text(route.lease()));
  print_line(out, "retention", to_text(route.retention));
  print_line(
      out, "indeterminate",
      route.indeterminate_retention ? to_text(*route.indeterminate_retention) : "never forgotten");
  print_line(out, "one call", recipe_of(route));
  print_line(out, "client's key", std::string(word(route.key.client_key)));
  if (!route.key.guards.empty()) print_line(out, "must match", list(route.key.guards));
  print_line(out, "replay seen by",
             route.key.caller ? spoken_name(*route.key.caller) : "the tenant");
  print_line(out, "duplicates",
             route.on_duplicate == OnDuplicate::Wait ? "wait up to " + to_text(route.wait)
                                                     : "get 409 at once");
  print_line(out, "sent upstream", forward_of(route.forward_key));
  print_line(out, "frees the key", statuses_of(route.record.release_on));
  print_line(out, route.policy == Policy::Effectful ? "unknown after" : "frees it, too",
             statuses_of(route.record.indeterminate_on));
}

void print_route(std::ostream& out, const Route& route) {
  const bool has_policy = route.policy != Policy::None;
  out << "route " << route.name << ": " << methods_of(route) << ' ' << route.pattern << " -> "
      << route.upstream_name << '\n';
  print_line(out, "policy", has_policy ? std::string(name(route.policy)) : "none: plain proxying");
  if (is_keyed(route.policy)) print_keyed(out, route);
  if (route.retry.attempts > 1) {
    print_line(out, "attempts", std::to_string(route.retry.attempts));
  }
}

}  // namespace

int run_check(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
  if (args.size() != 1 || args[0].starts_with("-")) {
    err << "usage: semel check CONFIG\n";
    return 2;
  }
  try {
    config::Config config = config::load_file(args[0], config::process_environment());
    for (const std::string& what : unbuilt(config)) {
      config.warnings.push_back(config.file + ": " + what +
                                " is not part of this version: serve refuses it");
    }
    for (const Route& route : config.routes) print_route(out, route);
    for (const std::string& warning : config.warnings) out << "warning: " << warning << '\n';
    out << config.file << ": routes: " << config.routes.size()
        << ", warnings: " << config.warnings.size() << '\n';
    return 0;
  } catch (const config::ConfigError& error) {
    err << error.what() << '\n';
    return 2;
  }
}

}  // namespace semel::proxy
