#include "io/stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/io/loop.h"
#include "tests/support/certificates.h"
#include "tests/support/temp_folder.h"

namespace semel {
namespace {

using testing::arrived;
using testing::Certificates;
using ::testing::HasSubstr;
using testing::Incoming;
using testing::Loop;
using testing::next_news;
using testing::Started;
using testing::tcp_stream;

/// Both ends of one connection, ours.
struct Pair {
  explicit Pair(Loop& loop) {
    auto stream = tcp_stream(loop);
    const asio::generic::stream_protocol protocol(AF_INET, IPPROTO_TCP);
    Connection::Socket socket(loop.executor(), protocol, ::dup(stream.theirs.fd()));
    client = std::make_unique<Stream>(std::move(stream.ours));
    server =
        std::make_unique<Stream>(std::make_unique<Connection>(std::move(socket), loop.deadlines));
  }
  std::unique_ptr<Stream> client;
  std::unique_ptr<Stream> server;
};

class StreamTest : public ::testing::Test {
 protected:
  static Task<std::string> read(Stream& stream, std::size_t bytes) {
    std::string all;
    std::string room(5'000, '\0');
    while (all.size() < bytes) {
      const ReadReply got = co_await stream.read_some(room);
      if (got.end != IoEnd::Done) break;
      all.append(room, 0, got.bytes);
    }
    co_return all;
  }
  static Task<IoEnd> read_end(Stream& stream) {
    std::string room(64, '\0');
    const ReadReply got = co_await stream.read_some(room);
    co_return got.end;
  }
  static Task<SendReply> write(Stream& stream, std::string text) {
    const std::array<asio::const_buffer, 2> parts{asio::buffer(text.data(), text.size() / 2),
                                                  asio::buffer(text) + text.size() / 2};
    co_return co_await stream.write_all(parts);
  }
  std::shared_ptr<const TlsTerms> client_terms(const std::string& ca) {
    TlsTerms::Client client;
    client.ca_file = ca;
    return std::make_shared<const TlsTerms>(client);
  }
  std::shared_ptr<const TlsTerms> server_terms(const std::string& client_ca = "") {
    return std::make_shared<const TlsTerms>(
        TlsTerms::Server{files.certificate, files.key, client_ca});
  }
  /// @return How it ended for the client.
  IoEnd shake_hands(std::shared_ptr<const TlsTerms> client, std::shared_ptr<const TlsTerms> server,
                    const std::string& name = "localhost") {
    const auto other = loop.start(pair.server->secure_as_server(std::move(server)));
    const IoEnd end = loop.run(pair.client->secure_as_client(std::move(client), name));
    pair.client->connection().shutdown_write();
    if (end != IoEnd::Done) loop.wait_for(other);
    return end;
  }
  void secure() {
    const auto other = loop.start(pair.server->secure_as_server(server_terms()));
    ASSERT_EQ(loop.run(pair.client->secure_as_client(client_terms(files.ca), "localhost")),
              IoEnd::Done)
        << pair.client->failure();
    ASSERT_EQ(loop.wait_for(other), IoEnd::Done) << pair.server->failure();
  }

  testing::TempFolder folder;
  Certificates files = testing::make_certificates(folder.path().string());
  Loop loop;
  Pair pair{loop};
};

TEST_F(StreamTest, APlainOneIsTheConnectionItself) {
  EXPECT_EQ(loop.run(write(*pair.client, "hello")).bytes, 5U);
  EXPECT_EQ(loop.run(read(*pair.server, 5)), "hello");
  pair.client->shutdown_write();
  EXPECT_EQ(loop.run(read_end(*pair.server)), IoEnd::Closed);
  EXPECT_FALSE(pair.client->is_secure());
}

TEST_F(StreamTest, InsideTlsEveryByteArrivesBothWaysAtOnce) {
  secure();
  std::string there;
  for (int i = 0; there.size() < 3'000'000; ++i) there += std::to_string(i) + ",";
  const std::string back(2'000'000, 'b');
  const auto writing = loop.start(write(*pair.client, there));
  const auto answering = loop.start(write(*pair.server, back));
  const auto reading = loop.start(read(*pair.client, back.size()));
  EXPECT_EQ(loop.run(read(*pair.server, there.size())), there);
  EXPECT_EQ(loop.wait_for(reading), back);
  EXPECT_EQ(loop.wait_for(writing).bytes, there.size());
  EXPECT_EQ(loop.wait_for(answering).end, IoEnd::Done);
}

TEST_F(StreamTest, NothingThatIsSaidInsideTlsCanBeReadOutside) {
  auto stream = tcp_stream(loop);
  Stream ours(std::move(stream.ours));
  const auto trying = loop.start(ours.secure_as_client(client_terms(files.ca), "localhost"));
  const std::string hello = arrived(stream.theirs);
  EXPECT_EQ(hello.substr(0, 2), "\x16\x03");  // RFC 8446, 5.1: a handshake record.
  stream.theirs.close();
  EXPECT_NE(loop.wait_for(trying), IoEnd::Done);
}

TEST_F(StreamTest, AFarewellIsAnEndAndACutIsNone) {
  secure();
  pair.client->shutdown_write();
  EXPECT_EQ(loop.run(read_end(*pair.server)), IoEnd::Closed);
  pair.server->connection().shutdown_write();
  EXPECT_EQ(loop.run(read_end(*pair.client)), IoEnd::Broken);
}

TEST_F(StreamTest, ACertificateForAnotherNameIsRefused) {
  EXPECT_EQ(shake_hands(client_terms(files.ca), server_terms(), "other.example"), IoEnd::Broken);
  EXPECT_THAT(pair.client->failure(), HasSubstr("ostname mismatch"));
}

TEST_F(StreamTest, AnAddressIsComparedAsAnAddress) {
  EXPECT_EQ(shake_hands(client_terms(files.ca), server_terms(), "127.0.0.1"), IoEnd::Done)
      << pair.client->failure();
}

TEST_F(StreamTest, AnotherAddressIsRefused) {
  EXPECT_EQ(shake_hands(client_terms(files.ca), server_terms(), "127.0.0.2"), IoEnd::Broken);
  EXPECT_THAT(pair.client->failure(), HasSubstr("IP address mismatch"));
}

TEST_F(StreamTest, AnAuthorityThatNobodyTrustsIsRefused) {
  EXPECT_EQ(shake_hands(client_terms(""), server_terms()), IoEnd::Broken);
  EXPECT_THAT(pair.client->failure(), HasSubstr("certificate"));
  EXPECT_NE(pair.server->failure(), "");
}

TEST_F(StreamTest, ANameThatIsNoneIsRefusedAndEndsNoProcess) {
  const std::string name(300, 'x');
  EXPECT_EQ(loop.run(pair.client->secure_as_client(client_terms(files.ca), name)), IoEnd::Broken);
  EXPECT_NE(pair.client->failure(), "");
}

TEST_F(StreamTest, AClientShowsItsCertificateWhereTheServerDemandsOne) {
  TlsTerms::Client client;
  client.ca_file = files.ca;
  client.certificate_file = files.certificate;
  client.key_file = files.key;
  const auto other = loop.start(pair.server->secure_as_server(server_terms(files.ca)));
  ASSERT_EQ(loop.run(pair.client->secure_as_client(std::make_shared<const TlsTerms>(client),
                                                   "localhost")),
            IoEnd::Done)
      << pair.client->failure();
  EXPECT_EQ(loop.wait_for(other), IoEnd::Done) << pair.server->failure();
}

TEST_F(StreamTest, AClientWithoutOneIsRefusedThere) {
  const auto other = loop.start(pair.server->secure_as_server(server_terms(files.ca)));
  const auto ours = loop.start(pair.client->secure_as_client(client_terms(files.ca), "localhost"));
  EXPECT_EQ(loop.wait_for(other), IoEnd::Broken);
  EXPECT_THAT(pair.server->failure(), HasSubstr("certificate"));
  // TLS 1.3 lets the client believe that it is through until it reads.
  loop.wait_for(ours);
  EXPECT_EQ(loop.run(read_end(*pair.client)), IoEnd::Broken);
}

TEST_F(StreamTest, APeerThatSpeaksNoTlsIsRefused) {
  auto stream = tcp_stream(loop);
  Stream ours(std::move(stream.ours));
  const auto trying = loop.start(ours.secure_as_client(client_terms(files.ca), "localhost"));
  ASSERT_TRUE(
      stream.theirs.send_all("-ERR what is this\r\n", testing::Deadline(std::chrono::seconds(10))));
  EXPECT_EQ(loop.wait_for(trying), IoEnd::Broken);
  EXPECT_NE(ours.failure(), "");
}

TEST_F(StreamTest, ADeadlineEndsAHandshake) {
  auto stream = tcp_stream(loop);
  Stream ours(std::move(stream.ours));
  const auto at = Deadlines::Clock::now() + std::chrono::hours(1);
  ours.connection().expires_at(at);
  const auto trying = loop.start(ours.secure_as_client(client_terms(files.ca), "localhost"));
  EXPECT_FALSE(trying.has_ended());
  loop.pass(at);
  EXPECT_EQ(loop.wait_for(trying), IoEnd::Expired);
}

TEST_F(StreamTest, FilesThatAreNoneAreABadStart) {
  EXPECT_THROW(client_terms(folder.file("missing")), TlsError);
  EXPECT_THROW(TlsTerms(TlsTerms::Server{files.key, files.key, ""}), TlsError);
  EXPECT_THROW(TlsTerms(TlsTerms::Server{files.certificate, files.certificate, ""}), TlsError);
}

}  // namespace
}  // namespace semel
