#include "tests/support/semel_process.h"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace semel::testing {
namespace {

/// `{a="b",c="d"}` without the braces. Values of the tests hold no escaped quotes.
std::map<std::string, std::string> parse_labels(std::string_view text) {
  std::map<std::string, std::string> labels;
  while (!text.empty()) {
    const std::size_t equals = text.find("=\"");
    const std::size_t end = text.find('"', equals + 2);
    if (equals == std::string_view::npos || end == std::string_view::npos) break;
    labels.emplace(text.substr(0, equals), text.substr(equals + 2, end - equals - 2));
    text.remove_prefix(std::min(text.size(), end + 2));
  }
  return labels;
}

}  // namespace

std::vector<Sample> parse_metrics(std::string_view text) {
  std::vector<Sample> samples;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.rfind(' ');
    if (line.empty() || line[0] == '#' || space == std::string::npos) continue;
    const std::string series = line.substr(0, space);
    const std::size_t brace = series.find('{');
    Sample sample{series.substr(0, brace), {}, std::strtod(line.c_str() + space, nullptr)};
    if (brace != std::string::npos) {
      sample.labels =
          parse_labels(std::string_view(series).substr(brace + 1, series.size() - brace - 2));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

SemelProcess::SemelProcess(SemelOptions options)
    : options_(std::move(options)), port_(free_port()), metrics_port_(free_port()) {
  write_file(config_file(), config_text());
  if (options_.store == StoreKind::Sqlite) init_store();
}

void SemelProcess::init_store() const {
  const Finished init = run({options_.binary, "store", "init", config_file()});
  if (!init.exit || init.exit->code != 0) {
    throw std::runtime_error("semel store init failed:\n" + init.out + init.err);
  }
}

std::string SemelProcess::store_file() const {
  if (options_.store_folder.empty()) return folder_.file("semel.db");
  return options_.store_folder + "/semel.db";
}

std::string SemelProcess::config_text() const {
  std::string store = options_.shared_store;
  if (options_.store == StoreKind::Memory) {
    store = "memory: {allow_volatile: true" + options_.memory_limits + "}";
  } else if (options_.store == StoreKind::Sqlite) {
    store = "sqlite: {path: \"" + store_file() + "\"}";
  }
  return "version: 1\n"
         "listen: {address: \"127.0.0.1:" +
         std::to_string(port_) + "\"" + options_.listen_more +
         "}\n"
         "metrics: {address: \"127.0.0.1:" +
         std::to_string(metrics_port_) +
         "\"}\n"
         "state_dir: \"" +
         folder_.file("state") +
         "\"\n"
         "store:\n  " +
         store + "\n" + options_.yaml;
}

std::vector<std::string> SemelProcess::serve_command(const std::vector<std::string>& words) const {
  std::vector<std::string> command = {options_.binary, "serve", config_file()};
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

Finished SemelProcess::start_in_vain(const std::vector<std::string>& words) const {
  return run(serve_command(words));
}

void SemelProcess::rewrite(std::string yaml, std::string listen_more) {
  options_.yaml = std::move(yaml);
  options_.listen_more = std::move(listen_more);
  write_file(config_file(), config_text());
}

std::string SemelProcess::reload() {
  const std::size_t before = stderr_text().size();
  sighup();
  const auto said = [&] { return stderr_text().substr(before); };
  const bool ended = eventually([&] {
    const std::string text = said();
    return text.ends_with('\n') && text.find("reloaded") != std::string::npos;
  });
  return ended ? said() : "";
}

void SemelProcess::start(const std::vector<std::string>& words) { start_until("", words); }
void SemelProcess::start_not_ready(std::string_view sentence) { start_until(sentence); }

void SemelProcess::start_until(std::string_view sentence, const std::vector<std::string>& words) {
  process_.reset();
  process_ = std::make_unique<Process>(Process::Command{
      serve_command(words), options_.environment, folder_.file("stdout"), folder_.file("stderr")});
  const bool there =
      eventually([&] { return !process_->is_running() || says(sentence); }, milliseconds{20'000});
  if (!there || !process_->is_running()) {
    throw std::runtime_error("semel serve is not ready:\n" + stderr_text());
  }
}

bool SemelProcess::says(std::string_view sentence) const {
  HttpClient probe(metrics_port_, milliseconds{2'000});
  if (!probe.is_connected()) return false;
  const Response ready = probe.exchange({"GET", "/readyz", {}, {}});
  if (sentence.empty()) return ready.status == 200;
  return ready.status == 503 && ready.body.find(sentence) != std::string::npos;
}

void SemelProcess::restart() {
  sigterm();
  wait();
  start();
}

void SemelProcess::kill9() {
  process_->kill(SIGKILL);
  wait();
}

void SemelProcess::sigterm() { process_->kill(SIGTERM); }
void SemelProcess::sighup() { process_->kill(SIGHUP); }
void SemelProcess::sigcont() { process_->kill(SIGCONT); }

bool SemelProcess::is_stopped() const {
  // `pid (name) state ...`; the name may hold anything but ends with the last parenthesis.
  const std::string stat = read_file("/proc/" + std::to_string(pid()) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) == "T";
}

std::optional<Exit> SemelProcess::wait(milliseconds patience) {
  return process_->wait(Deadline(patience));
}

std::size_t SemelProcess::resident_bytes() const {
  std::istringstream pages(read_file("/proc/" + std::to_string(pid()) + "/statm"));
  std::size_t total = 0;
  std::size_t resident = 0;
  pages >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<Json> SemelProcess::access_log() const {
  std::vector<Json> parsed;
  std::istringstream lines(stdout_text());
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    if (line.starts_with('{')) parsed.push_back(Json::parse(line));
  }
  return parsed;
}

std::vector<Json> SemelProcess::access_log(std::size_t lines) const {
  // The answer may reach the client before its line reaches the file.
  static_cast<void>(eventually([&] { return access_log().size() >= lines; }));
  return access_log();
}

double SemelProcess::metric(std::string_view name,
                            const std::map<std::string, std::string>& labels) const {
  double sum = 0;
  for (const Sample& sample : parse_metrics(fetch(metrics_port_, "/metrics").body)) {
    bool matches = sample.name == name;
    for (const auto& [label, value] : labels) {
      const auto found = sample.labels.find(label);
      matches = matches && found != sample.labels.end() && found->second == value;
    }
    if (matches) sum += sample.value;
  }
  return sum;
}

}  // namespace semel::testing
