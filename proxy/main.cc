// The program: one command, its arguments, an exit code.
#include <iostream>
#include <string>
#include <vector>

#include "config/load.h"
#include "proxy/cli_check.h"
#include "proxy/cli_explain.h"
#include "proxy/cli_records.h"
#include "proxy/cli_serve.h"

namespace {

constexpr char kUsage[] =
    "usage: semel serve CONFIG [--acknowledge ROUTE]...\n"
    "                                     run the proxy until SIGTERM; SIGHUP reloads it\n"
    "       semel check CONFIG            read a configuration and print its routes\n"
    "       semel explain CONFIG [curl's options] PATH\n"
    "                                     the key of one request, step by step; --json\n"
    "       semel records list|show|resolve|forget ... --config CONFIG\n"
    "                                     what the running proxy remembers, and the operator's "
    "word\n"
    "       semel store init CONFIG       create the configured store; --dry-run shows what it "
    "does\n"
    "       semel store acknowledge CONFIG\n"
    "                                     trust a store again that may have lost records\n"
    "       semel schema                  the JSON Schema of the configuration\n"
    "       semel version\n";

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    std::cerr << kUsage;
    return 2;
  }
  const std::string& command = words[0];
  const std::span<const std::string> args = std::span(words).subspan(1);
  if (command == "serve") return semel::proxy::run_serve(args, std::cerr);
  if (command == "check") return semel::proxy::run_check(args, std::cout, std::cerr);
  if (command == "explain") return semel::proxy::run_explain(args, std::cout, std::cerr);
  if (command == "records") return semel::proxy::run_records(args, std::cout, std::cerr);
  if (command == "store") return semel::proxy::run_store(args, std::cout, std::cerr);
  if (command == "schema") {
    std::cout << semel::config::json_schema();
    return 0;
  }
  if (command == "version" || command == "--version") {
    std::cout << "semel " << SEMEL_VERSION << "\n";
    return 0;
  }
  if (command == "help" || command == "--help" || command == "-h") {
    std::cout << kUsage;
    return 0;
  }
  std::cerr << "semel: no command " << command << "\n" << kUsage;
  return 2;
}
