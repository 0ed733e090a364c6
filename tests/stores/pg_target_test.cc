// Every form in which libpq takes its words, and what is said when they are wrong.

#include "stores/pg_target.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "stores/pg_links.h"
#include "stores/pg_session.h"
#include "tests/stores/pg_worker.h"
#include "tests/support/postgres_server.h"
#include "tests/support/temp_folder.h"

namespace semel::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr PgTarget::Patience kPatience{std::chrono::milliseconds(900),
                                       std::chrono::milliseconds(250)};
const PgStatement kTls{
    "tls", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", PgStatement::Kind::Read, {}};
const PgStatement kRole{"role", "SELECT current_user::text", PgStatement::Kind::Read, {}};

/// A variable of the environment, for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

std::string complaint_about(const std::string& url) {
  try {
    const PgTarget target(url, kPatience);
  } catch (const StoreError& error) {
    return error.what();
  }
  return {};
}

std::vector<std::string> spelled(const std::string& url) {
  std::vector<std::string> all;
  const PgTarget target(url, kPatience);
  for (const auto& host : target.hosts()) all.push_back(host.spelled());
  return all;
}

TEST(PgTarget, HostsArePairedWithTheirPorts) {
  using ::testing::ElementsAre;
  EXPECT_THAT(spelled("postgres://a:1,b:2/x"), ElementsAre("a:1", "b:2"));
  EXPECT_THAT(spelled("host=a,b port=7 dbname=x"), ElementsAre("a:7", "b:7"));
  EXPECT_THAT(spelled("postgres://a,b:2"), ElementsAre("a:5432", "b:2"));
  EXPECT_THAT(spelled("postgres://[::1]:9/x"), ElementsAre("::1:9"));
  EXPECT_THAT(spelled("host=/run/pg port=3"), ElementsAre("/run/pg:3"));
  EXPECT_THAT(spelled("postgres:///x"), ElementsAre("its Unix socket:5432"));
  EXPECT_THAT(spelled("host=a hostaddr=10.0.0.1"), ElementsAre("a:5432"));
}

TEST(PgTarget, WhatCannotBeReadIsRefusedWithoutItsSecrets) {
  for (const std::string url :
       {"postgres://me:hunter2@host:port/x", "postgres://me:hunter2@[host/x", "password=a hunter2",
        "password='hunter2", "postgres://me:hunter2@h/x?hunter2", "hunter2",
        "host=a,b port=1,2,3 password=hunter2", "host=a sslmode=hunter2 password=hunter2",
        "service=hunter2"}) {
    const std::string complaint = complaint_about(url);
    EXPECT_THAT(complaint, HasSubstr("store.postgres.url: ")) << url;
    EXPECT_THAT(complaint, Not(HasSubstr("hunter2"))) << url;
  }
}

class PgTargetServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresServer::is_installed()) GTEST_SKIP() << "PostgreSQL is not installed";
  }
  static std::string at(const PostgresServer& server, const std::string& user_and_password,
                        const std::string& words = "") {
    return "postgres://" + user_and_password + "@localhost:" + std::to_string(server.port()) +
           "/postgres" + words;
  }
  static PgWorker::Reply ask(const std::string& url, const PgStatement& statement,
                             std::string* trouble = nullptr) {
    PostgresOptions options;
    options.url = url;
    options.deadline = milliseconds{5'000};
    PgLinks links(options, one_connection());
    PgWorker worker(links);
    auto reply = worker.ask(statement);
    if (trouble != nullptr) *trouble = links.state().trouble;
    return reply;
  }
};

TEST_F(PgTargetServer, TlsIsUsedAndCheckedAsTheUrlSays) {
  PostgresSetup setup;
  setup.has_tls = true;
  const PostgresServer server(setup);
  const std::string trusted = "&sslrootcert=" + server.certificates().ca;
  EXPECT_EQ(number_of(ask(at(server, "semel", "?sslmode=verify-full" + trusted), kTls)), 1);
  EXPECT_EQ(number_of(ask(at(server, "semel", "?sslmode=prefer"), kTls)), 1);
  EXPECT_EQ(number_of(ask(at(server, "semel", "?sslmode=disable"), kTls)), 0);
  const TempFolder folder;
  const Certificates strangers = make_certificates(folder.path().string());
  std::string trouble;
  const std::string mistrusted = "?sslmode=verify-full&sslrootcert=" + strangers.ca;
  EXPECT_EQ(fault_of(ask(at(server, "semel", mistrusted), kTls, &trouble)),
            Fault::StoreUnreachable);
  EXPECT_THAT(trouble, HasSubstr("certificate"));
}

TEST_F(PgTargetServer, WhereTlsIsAskedForAndNotThereNothingIsSaidInTheClear) {
  const PostgresServer server;
  std::string trouble;
  EXPECT_EQ(fault_of(ask(at(server, "semel", "?sslmode=require"), kTls, &trouble)),
            Fault::StoreUnreachable);
  EXPECT_THAT(trouble, HasSubstr("SSL"));
  EXPECT_EQ(number_of(ask(at(server, "semel", "?sslmode=prefer"), kTls)), 0);
}

class PgTargetPassword : public PgTargetServer {
 protected:
  void SetUp() override {
    PgTargetServer::SetUp();
    if (IsSkipped()) return;
    PostgresSetup setup;
    setup.access = {"host all all 127.0.0.1/32 scram-sha-256",
                    "host all all ::1/128 scram-sha-256"};
    server = std::make_unique<PostgresServer>(setup);
    server->sql("CREATE ROLE guest LOGIN PASSWORD 'pass word'");
  }
  std::unique_ptr<PostgresServer> server;
};

TEST_F(PgTargetPassword, APasswordIsTakenFromTheUrlAndAWrongOneIsNotRepeated) {
  EXPECT_EQ(value_of(ask(at(*server, "guest:pass%20word"), kRole)), "guest");
  std::string trouble;
  EXPECT_EQ(fault_of(ask(at(*server, "guest:hunter2"), kRole, &trouble)), Fault::StoreUnreachable);
  EXPECT_THAT(trouble, HasSubstr("password authentication failed"));
  EXPECT_THAT(trouble, Not(HasSubstr("hunter2")));
  PostgresOptions options;
  options.url = at(*server, "guest:hunter2");
  try {
    const PgSession session(options);
    FAIL() << "it was let in";
  } catch (const PgError& error) {
    EXPECT_THAT(error.what(), HasSubstr("password authentication failed"));
    EXPECT_THAT(error.what(), Not(HasSubstr("hunter2")));
  }
}

TEST_F(PgTargetPassword, AServiceFileAndAPasswordFileCount) {
  const TempFolder folder;
  const std::string port = std::to_string(server->port());
  write_file(folder.file("services"),
             "[booking]\nhost=localhost\nport=" + port + "\nuser=guest\ndbname=postgres\n");
  write_file(folder.file("passwords"), "localhost:" + port + ":postgres:guest:pass word\n");
  std::filesystem::permissions(folder.file("passwords"), std::filesystem::perms::owner_read);
  const Variable services("PGSERVICEFILE", folder.file("services"));
  const Variable passwords("PGPASSFILE", folder.file("passwords"));
  EXPECT_EQ(value_of(ask("service=booking", kRole)), "guest");
  EXPECT_EQ(value_of(ask("postgres:///?service=booking", kRole)), "guest");
  const Variable service("PGSERVICE", "booking");
  EXPECT_EQ(value_of(ask("postgres://", kRole)), "guest");
}

TEST_F(PgTargetServer, AUnixSocketAndWordsInsteadOfAUrl) {
  const PostgresServer server;
  EXPECT_EQ(value_of(ask("host=" + server.socket_folder() +
                             " user=semel dbname=postgres port=" + std::to_string(server.port()),
                         kRole)),
            "semel");
}

TEST_F(PgTargetServer, ANameThatNobodyKnowsIsNoPermissionToWait) {
  std::string trouble;
  EXPECT_EQ(fault_of(ask("postgres://nobody.invalid/x", kRole, &trouble)), Fault::StoreUnreachable);
  EXPECT_THAT(trouble, HasSubstr("nobody.invalid"));
}

}  // namespace
}  // namespace semel::testing
