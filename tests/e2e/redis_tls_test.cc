// A Redis that speaks TLS with a CA of its own, through the whole program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/gateway.h"
#include "tests/support/redis_server.h"

namespace semel::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RedisTls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!RedisServer::is_installed()) GTEST_SKIP() << "redis-server is not installed";
  }
  static RedisSetup setup(const std::string& setting) {
    RedisSetup setup;
    setup.has_tls = true;
    setup.settings = {setting};
    return setup;
  }
  /// @param tls  `ca: ...`, the keys of the store's `tls`.
  SemelOptions options(const RedisServer& server, const std::string& tls) {
    SemelOptions options;
    options.binary = semel_binary();
    options.store = StoreKind::Shared;
    options.shared_store = "redis: {url: \"" + server.tls_url() + "\", tls: {" + tls + "}}";
    options.yaml = "upstreams:\n  tool:\n    endpoints: [\"" + endpoint_of(upstream_.port()) +
                   "\"]\n" + tool_routes();
    return options;
  }
  static std::string ca(const Certificates& made) { return "ca: \"" + made.ca + "\""; }
  static std::string shown(const Certificates& made) {
    return ", certificate: \"" + made.certificate + "\", key: \"" + made.key + "\"";
  }
  void expect_service(const SemelOptions& options) {
    SemelProcess semel(options);
    semel.init_store();
    semel.start();
    const Request booking = Gateway::tool_request("/tools/book", kBooking, {{"X-Run-Id", "r-1"}});
    EXPECT_EQ(call(semel.port(), booking).status, 201);
    EXPECT_EQ(call(semel.port(), booking).header("Idempotent-Replayed"), "true");
  }
  /// A start that ends with exit code 2, and what it says.
  static std::string refusal(const SemelOptions& options) {
    const Finished start = SemelProcess(options).start_in_vain();
    EXPECT_TRUE(start.exit && start.exit->code == 2) << start.err;
    return start.err;
  }

  ScriptedUpstream upstream_;
};

TEST_F(RedisTls, AServerWhoseCaIsGivenIsTrusted) {
  upstream_.script(answers(201, "{}"));
  const RedisServer server(setup("tls-auth-clients no"));
  expect_service(options(server, ca(server.certificates())));
}

TEST_F(RedisTls, AServerOfAnotherCaIsNoStoreAndTheSentenceSaysWhy) {
  const RedisServer server(setup("tls-auth-clients no"));
  const TempFolder folder;
  const Certificates others = make_certificates(folder.path().string());
  EXPECT_THAT(refusal(options(server, ca(others))),
              AllOf(HasSubstr("localhost:" + std::to_string(server.tls_port())),
                    HasSubstr("TLS failed"), HasSubstr("certificate")));
}

TEST_F(RedisTls, AServerThatDemandsACertificateGetsTheOneThatIsGiven) {
  upstream_.script(answers(201, "{}"));
  const RedisServer server(setup("tls-auth-clients yes"));
  const Certificates& made = server.certificates();
  EXPECT_THAT(refusal(options(server, ca(made))),
              HasSubstr("if it demands a certificate of its clients"));
  expect_service(options(server, ca(made) + shown(made)));
}

TEST_F(RedisTls, AFileThatIsMissingIsNamed) {
  const RedisServer server(setup("tls-auth-clients no"));
  EXPECT_THAT(refusal(options(server, "ca: ./there-is-none.pem")), HasSubstr("there-is-none.pem"));
}

}  // namespace
}  // namespace semel::testing
