// Who may ask the admin listener: spec 11 (a token always, Host checked, no CORS); RFC 6750.
#include "proxy/admin_gate.h"

#include <gtest/gtest.h>

namespace semel::proxy {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

config::Address address(std::string host, std::uint16_t port) {
  config::Address address;
  address.host = std::move(host);
  address.port = port;
  return address;
}

/// 0: it may go on.
int status_of(const AdminGate& gate, Fields fields, std::string method = "GET") {
  PageRequest head;
  head.method = std::move(method);
  head.fields = std::move(fields);
  const auto refusal = gate.refusal(head);
  return refusal ? refusal->status : 0;
}

int status_of_host(const config::Address& listener, const std::string& host) {
  return status_of(AdminGate(listener, "s3cret"),
                   {{"Host", host}, {"Authorization", "Bearer s3cret"}});
}

TEST(AdminGate, HostIsTheListenersOwnAddress) {
  const auto near = address("127.0.0.1", 9080);
  for (const char* host :
       {"127.0.0.1:9080", "localhost:9080", "LOCALHOST:9080", "[::1]:9080", "127.0.0.2:9080"}) {
    EXPECT_EQ(status_of_host(near, host), 0) << host;
  }
  for (const char* host :
       {"evil.example:9080", "127.0.0.1", "127.0.0.1:9081", "127.0.0.1:", "127.0.0.1:9080:9080",
        "10.0.0.1:9080", "", ":9080", "[::1", "[::1]x", "[127.0.0.1:9080", "2130706433:9080",
        "localhost.evil.example:9080", "127.0.0.1:9080.evil.example", "127.0.0.1:09080000"}) {
    EXPECT_EQ(status_of_host(near, host), 421) << host;
  }
}

TEST(AdminGate, AListenerOnOneFarAddressIsMeantByThatAddressOnly) {
  const auto far = address("10.0.0.5", 9080);
  EXPECT_EQ(status_of_host(far, "10.0.0.5:9080"), 0);
  for (const char* host : {"localhost:9080", "127.0.0.1:9080", "10.0.0.6:9080"}) {
    EXPECT_EQ(status_of_host(far, host), 421) << host;
  }
  EXPECT_EQ(status_of_host(address("fd00::5", 9080), "[fd00:0:0::5]:9080"), 0);
}

TEST(AdminGate, AListenerOnAllAddressesTakesAddressesAndNoNames) {
  // A name can be made to resolve to this machine; an address is what it is.
  const auto any = address("0.0.0.0", 9080);
  for (const char* host : {"127.0.0.1:9080", "localhost:9080", "10.1.2.3:9080", "[::1]:9080"}) {
    EXPECT_EQ(status_of_host(any, host), 0) << host;
  }
  EXPECT_EQ(status_of_host(any, "semel.internal:9080"), 421);
}

TEST(AdminGate, ThePortOfHttpNeedNotBeWritten) {
  EXPECT_EQ(status_of_host(address("127.0.0.1", 80), "127.0.0.1"), 0);
  EXPECT_EQ(status_of_host(address("127.0.0.1", 80), "127.0.0.1:80"), 0);
}

TEST(AdminGate, ThereIsExactlyOneHost) {
  const AdminGate gate(address("127.0.0.1", 9080), "s3cret");
  EXPECT_EQ(status_of(gate, {{"Authorization", "Bearer s3cret"}}), 421);
  EXPECT_EQ(status_of(gate, {{"Host", "127.0.0.1:9080"},
                             {"Host", "127.0.0.1:9080"},
                             {"Authorization", "Bearer s3cret"}}),
            421);
}

TEST(AdminGate, TheTokenIsAskedForAlways) {
  const AdminGate gate(address("127.0.0.1", 9080), "s3cret");
  for (const char* value : {"Bearer s3cret", "bearer s3cret", "BEARER  s3cret "}) {
    EXPECT_EQ(status_of(gate, {{"Host", "127.0.0.1:9080"}, {"Authorization", value}}), 0) << value;
  }
  for (const char* value : {"", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets",
                            "Bearer S3cret", "Basic s3cret", "s3cret", "Bearers3cret"}) {
    EXPECT_EQ(status_of(gate, {{"Host", "127.0.0.1:9080"}, {"Authorization", value}}), 401)
        << value;
  }
  EXPECT_EQ(status_of(gate, {{"Host", "127.0.0.1:9080"}}), 401);
  EXPECT_EQ(status_of(gate, {{"Host", "127.0.0.1:9080"},
                             {"Authorization", "Bearer s3cret"},
                             {"Authorization", "Bearer s3cret"}}),
            401);
}

TEST(AdminGate, ARefusalForTheTokenSaysHowToShowOne) {
  const AdminGate gate(address("127.0.0.1", 9080), "s3cret");
  PageRequest head;
  head.fields = {{"Host", "127.0.0.1:9080"}};
  const auto refusal = gate.refusal(head);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->content_type, "application/problem+json");
  EXPECT_EQ(refusal->fields, (Fields{{"WWW-Authenticate", "Bearer realm=\"semel admin\""}}));
  EXPECT_EQ(refusal->body.find("s3cret"), std::string::npos);
}

TEST(AdminGate, AWebPageOfAnyOriginIsRefused) {
  const AdminGate gate(address("127.0.0.1", 9080), "s3cret");
  for (const char* origin : {"https://evil.example", "null", "http://127.0.0.1:9080"}) {
    EXPECT_EQ(status_of(gate, {{"Host", "127.0.0.1:9080"},
                               {"Authorization", "Bearer s3cret"},
                               {"Origin", origin}}),
              403)
        << origin;
  }
}

TEST(AdminGate, ABodyIsJson) {
  const AdminGate gate(address("127.0.0.1", 9080), "s3cret");
  const auto status = [&](const Fields& more) {
    Fields fields = {{"Host", "127.0.0.1:9080"}, {"Authorization", "Bearer s3cret"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return status_of(gate, fields, "POST");
  };
  EXPECT_EQ(status({{"Content-Length", "2"}, {"Content-Type", "application/json"}}), 0);
  EXPECT_EQ(status({{"Content-Length", "2"}, {"Content-Type", "application/json; charset=utf-8"}}),
            0);
  EXPECT_EQ(status({{"Content-Length", "2"}}), 415);
  EXPECT_EQ(status({{"Content-Length", "2"}, {"Content-Type", "text/plain"}}), 415);
  EXPECT_EQ(status({{"Transfer-Encoding", "chunked"}}), 415);
  EXPECT_EQ(status({{"Content-Length", "0"}}), 0);
  EXPECT_EQ(status({}), 0);
}

TEST(SameSecret, ComparesWholeTexts) {
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abc", "abd"));
  EXPECT_FALSE(same_secret("abc", "bbc"));
  EXPECT_FALSE(same_secret("abc", "ab"));
}

}  // namespace
}  // namespace semel::proxy
