#include "tests/support/postgres_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/shm.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/installed.h"
#include "tests/support/process_tree.h"
#include "tests/support/socket.h"

namespace semel::testing {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kPatience{60'000};

std::string run_or_throw(const std::vector<std::string>& command) {
  Finished finished = run(command, kPatience);
  if (!finished.exit || finished.exit->code != 0) {
    throw std::runtime_error(command.front() + ": " + finished.out + finished.err);
  }
  return std::move(finished.out);
}

std::string program(std::string_view name) {
  const auto path = installed(name);
  if (!path) throw std::runtime_error(std::string(name) + " is not installed");
  return *path;
}

void chown_tree(const std::string& path, const Account& account) {
  run_or_throw({program("chown"), "-R",
                std::to_string(account.user) + ":" + std::to_string(account.group), path});
}

/// Makes a new database system in `folder`/data.
void make_system(const std::string& folder) {
  const auto account = unprivileged();
  if (account) chown_tree(folder, *account);
  run_or_throw(
      tied_to_us({program("initdb"), "-D", folder + "/data", "--no-sync", "-A", "trust", "-U",
                  "semel", "--locale=C", "-E", "UTF8", "--no-instructions", "--wal-segsize=1"},
                 account));
}

/// Two thirds of a new system are databases that nobody connects to.
void keep_one_database(const std::string& folder) {
  const std::string words =
      "UPDATE pg_database SET datistemplate = false;\nDROP DATABASE template0;\n"
      "DROP DATABASE template1;\n";
  const std::string alone = program("postgres") + " --single -D " + folder + "/data postgres";
  run_or_throw(
      tied_to_us({program("sh"), "-c", "printf '%s' '" + words + "' | " + alone}, unprivileged()));
}

/// One database system for all test programs of a build, made by the first that asks.
std::string template_folder() {
  const std::string folder = SEMEL_BINARY_DIR "/postgres-15-template";
  const int lock = ::open((folder + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock < 0 || ::flock(lock, LOCK_EX) != 0) throw std::runtime_error("no lock on " + folder);
  try {
    if (!fs::exists(folder)) {
      const TempFolder workshop;
      make_system(workshop.path().string());
      keep_one_database(workshop.path().string());
      const std::string unfinished = folder + ".unfinished";
      fs::remove_all(unfinished);
      run_or_throw({program("cp"), "-a", workshop.file("data"), unfinished});
      fs::rename(unfinished, folder);
    }
  } catch (...) {
    ::close(lock);
    throw;
  }
  ::close(lock);
  return folder;
}

std::vector<std::string> lines_of_file(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

bool PostgresServer::is_installed() { return installed("postgres") && installed("initdb"); }

PostgresServer::PostgresServer(PostgresSetup setup) : setup_(std::move(setup)), port_(free_port()) {
  if (setup_.has_own_system_id) {
    make_system(folder_.path().string());
  } else {
    copy_template();
  }
  configure();
  start();
}

PostgresServer::PostgresServer(const PostgresServer& primary, PostgresSetup setup,
                               const std::string& application_name)
    : setup_(std::move(setup)), port_(free_port()) {
  own(folder_.path().string());
  base_backup(primary, folder_.file("data"),
              {"-R", "-d",
               "host=127.0.0.1 port=" + std::to_string(primary.port()) +
                   " user=semel application_name=" + application_name});
  configure();
  start();
}

PostgresServer::~PostgresServer() {
  if (process_ && process_->is_running()) {
    resume();
    process_->kill(SIGQUIT);  // "Immediate": no more than its shared memory is given back.
    process_->wait(Deadline(milliseconds{10'000}));
  }
  if (process_ && process_->is_running()) kill9();
  forget_shared_memory();
}

void PostgresServer::copy_template() {
  run_or_throw({program("cp"), "-a", template_folder(), folder_.file("data")});
}

void PostgresServer::base_backup(const PostgresServer& of, const std::string& into,
                                 const std::vector<std::string>& words) const {
  std::vector<std::string> command{
      program("pg_basebackup"), "-D", into, "-X", "stream", "-c", "fast", "--no-sync"};
  if (words.empty()) {
    command.insert(command.end(),
                   {"-h", of.socket_folder(), "-p", std::to_string(of.port()), "-U", "semel"});
  }
  command.insert(command.end(), words.begin(), words.end());
  run_or_throw(tied_to_us(std::move(command), unprivileged()));
}

void PostgresServer::own(const std::string& path) const {
  if (const auto account = unprivileged()) chown_tree(path, *account);
}

void PostgresServer::configure() {
  std::string conf =
      "\nlisten_addresses = '127.0.0.1'\n"
      "port = " +
      std::to_string(port_) +
      "\n"
      "unix_socket_directories = '" +
      socket_folder() +
      "'\n"
      // One call instead of one for each of a thousand files, after a kill.
      "recovery_init_sync_method = syncfs\n"
      "dynamic_shared_memory_type = mmap\n"
      "shared_buffers = 16MB\n"
      "max_wal_size = 64MB\n"
      "min_wal_size = 8MB\n"
      "wal_keep_size = 32MB\n"
      "jit = off\n"
      "logging_collector = off\n"
      "log_destination = stderr\n";
  if (setup_.has_tls) {
    certificates_ = make_certificates(folder_.path().string());
    conf += "ssl = on\nssl_ca_file = '" + certificates_->ca + "'\nssl_cert_file = '" +
            certificates_->certificate + "'\nssl_key_file = '" + certificates_->key + "'\n";
  }
  for (const std::string& line : setup_.settings) conf += line + "\n";
  std::string access = "local all,replication all trust\n";
  for (const std::string& line : setup_.access) access += line + "\n";
  if (setup_.access.empty()) access += "host all,replication all 127.0.0.1/32 trust\n";
  const std::string conf_file = folder_.file("data/postgresql.conf");
  write_file(conf_file, read_file(conf_file) + conf);
  write_file(folder_.file("data/pg_hba.conf"), access);
  own(folder_.path().string());
}

void PostgresServer::start() {
  process_.reset();
  const std::vector<std::string> environment =
      setup_.wall != nullptr ? setup_.wall->environment() : std::vector<std::string>{};
  process_ = std::make_unique<Process>(Process::Command{
      tied_to_us({program("postgres"), "-D", folder_.file("data")}, unprivileged()), environment,
      folder_.file("out"), folder_.file("err")});
  const bool there = eventually([&] { return !process_->is_running() || is_ready(); }, kPatience);
  if (!there || !process_->is_running()) {
    throw std::runtime_error("postgres does not come up: " + log());
  }
}

bool PostgresServer::is_ready() const {
  const auto lines = lines_of_file(folder_.file("data/postmaster.pid"));
  return lines.size() >= 8 && lines[0] == std::to_string(pid()) && lines[7].starts_with("ready");
}

std::string PostgresServer::url() const {
  return "postgres://semel@127.0.0.1:" + std::to_string(port_) + "/postgres";
}

void PostgresServer::kill9() {
  if (!process_->is_running()) return;
  const std::vector<pid_t> children = kill_tree(process_->pid());
  process_->wait(Deadline(kPatience));
  for (const pid_t child : children) {
    static_cast<void>(eventually([child] { return is_gone(child); }, kPatience));
  }
}

void PostgresServer::stop() {
  if (!process_->is_running()) return;
  resume();
  process_->kill(SIGINT);
  process_->wait(Deadline(kPatience));
}

void PostgresServer::pause() { stop_tree(pid()); }
void PostgresServer::resume() { resume_tree(pid()); }

void PostgresServer::restart() {
  stop();
  start();
}

std::string PostgresServer::sql(const std::string& statements) const {
  std::string rows = run_or_throw({program("psql"), "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1",
                                   "-h", socket_folder(), "-p", std::to_string(port_), "-U",
                                   "semel", "-d", "postgres", "-c", statements});
  if (rows.ends_with('\n')) rows.pop_back();
  return rows;
}

void PostgresServer::promote() {
  const std::string done = sql("SELECT pg_promote(true, 60)");
  if (done != "t") throw std::runtime_error("no promotion: " + log());
}

void PostgresServer::back_up() {
  fs::remove_all(folder_.file("backup"));
  base_backup(*this, folder_.file("backup"), {});
}

void PostgresServer::restore() {
  stop();
  fs::remove_all(folder_.file("data"));
  run_or_throw({program("cp"), "-a", folder_.file("backup"), folder_.file("data")});
  start();
}

/// What a kill leaves behind: a segment that only the next server on this folder would remove.
void PostgresServer::forget_shared_memory() const {
  const auto lines = lines_of_file(folder_.file("data/postmaster.pid"));
  if (lines.size() < 7) return;
  std::istringstream line(lines[6]);
  unsigned long key = 0;
  int id = -1;
  if (line >> key >> id) ::shmctl(id, IPC_RMID, nullptr);
}

}  // namespace semel::testing
