// TLS by OpenSSL between two memory buffers, so that all waiting stays with Connection: one
// deadline, and a count of what was handed over.
#include "io/stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <array>
#include <boost/asio/ip/address.hpp>

#include "core/check.h"

namespace semel {
namespace {

/// One record of TLS, as good as always.
constexpr std::size_t kArrivingBytes = 17 * 1024;

}  // namespace

void Stream::Free::operator()(ssl_st* tls) const { SSL_free(tls); }

Stream::Stream(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
Stream::~Stream() = default;

void Stream::begin_tls(std::shared_ptr<const TlsTerms> terms) {
  SEMEL_CHECK(tls_ == nullptr);
  terms_ = std::move(terms);
  tls_.reset(SSL_new(terms_->native()));
  arrived_ = BIO_new(BIO_s_mem());
  sealed_ = BIO_new(BIO_s_mem());
  SEMEL_CHECK(tls_ != nullptr && arrived_ != nullptr && sealed_ != nullptr);
  BIO_set_mem_eof_return(arrived_, -1);  // Empty is "not yet", and not the end.
  BIO_set_mem_eof_return(sealed_, -1);
  SSL_set_bio(tls_.get(), arrived_, sealed_);
  arriving_.resize(kArrivingBytes);
}

Task<IoEnd> Stream::secure_as_client(std::shared_ptr<const TlsTerms> terms, std::string name) {
  begin_tls(std::move(terms));
  SSL_set_connect_state(tls_.get());
  if (!expect_name(name)) {
    failure_ = "'" + name + "' is no name that a certificate can be for";
    co_return IoEnd::Broken;
  }
  co_return co_await shake_hands();
}

bool Stream::expect_name(const std::string& name) {
  boost::system::error_code not_numeric;
  static_cast<void>(asio::ip::make_address(name, not_numeric));
  if (not_numeric) {
    SSL_set_hostflags(tls_.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(tls_.get(), name.c_str()) == 1 &&
           SSL_set_tlsext_host_name(tls_.get(), name.c_str()) == 1;
  }
  // RFC 6066, 3: an address is never sent as a server's name.
  return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls_.get()), name.c_str()) == 1;
}

Task<IoEnd> Stream::secure_as_server(std::shared_ptr<const TlsTerms> terms) {
  begin_tls(std::move(terms));
  SSL_set_accept_state(tls_.get());
  co_return co_await shake_hands();
}

Task<IoEnd> Stream::shake_hands() {
  for (;;) {
    ERR_clear_error();
    const int done = SSL_do_handshake(tls_.get());
    const int error = SSL_get_error(tls_.get(), done);
    if (done != 1 && error != SSL_ERROR_WANT_READ) note_failure();
    // An alert that tells the peer what was wrong leaves too.
    const IoEnd sent = co_await send_sealed();
    if (done == 1) co_return sent;
    if (error != SSL_ERROR_WANT_READ) co_return IoEnd::Broken;
    if (sent != IoEnd::Done) co_return sent;
    const IoEnd received = co_await receive_sealed();
    if (received == IoEnd::Done) continue;
    if (failure_.empty()) failure_ = "the peer ended the connection during the handshake";
    co_return received;
  }
}

void Stream::note_failure() {
  const long verdict = SSL_get_verify_result(tls_.get());
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  if (verdict != X509_V_OK) reason = X509_verify_cert_error_string(verdict);
  failure_ = reason == nullptr ? "the handshake failed" : reason;
  ERR_clear_error();
}

Task<IoEnd> Stream::send_sealed() {
  // Whoever sends already takes these along; an error shows with the next call.
  if (sending_) co_return IoEnd::Done;
  sending_ = true;
  IoEnd end = IoEnd::Done;
  while (end == IoEnd::Done && BIO_ctrl_pending(sealed_) > 0) {
    leaving_.resize(BIO_ctrl_pending(sealed_));
    const int size = BIO_read(sealed_, leaving_.data(), static_cast<int>(leaving_.size()));
    SEMEL_CHECK(size == static_cast<int>(leaving_.size()));
    const std::array<asio::const_buffer, 1> piece{asio::buffer(leaving_)};
    const SendReply sent = co_await connection_->write_all(piece);
    end = sent.end;
  }
  sending_ = false;
  co_return end;
}

Task<IoEnd> Stream::receive_sealed() {
  const ReadReply got = co_await connection_->read_some(arriving_);
  if (got.end == IoEnd::Done) {
    const int kept = BIO_write(arrived_, arriving_.data(), static_cast<int>(got.bytes));
    SEMEL_CHECK(kept == static_cast<int>(got.bytes));
  }
  co_return got.end;
}

Task<ReadReply> Stream::read_some(std::span<char> room) {
  return tls_ == nullptr ? connection_->read_some(room) : read_secure(room);
}

Task<ReadReply> Stream::read_secure(std::span<char> room) {
  for (;;) {
    ERR_clear_error();
    std::size_t bytes = 0;
    const int done = SSL_read_ex(tls_.get(), room.data(), room.size(), &bytes);
    if (done == 1) co_return ReadReply{IoEnd::Done, bytes};
    const int error = SSL_get_error(tls_.get(), done);
    if (error == SSL_ERROR_ZERO_RETURN) co_return ReadReply{IoEnd::Closed, 0};
    if (error != SSL_ERROR_WANT_READ) {
      note_failure();
      static_cast<void>(co_await send_sealed());
      co_return ReadReply{IoEnd::Broken, 0};
    }
    // Reading may have something to say, a new key for one.
    const IoEnd sent = co_await send_sealed();
    if (sent != IoEnd::Done) co_return ReadReply{sent, 0};
    const IoEnd received = co_await receive_sealed();
    if (received == IoEnd::Closed) {
      failure_ = "the peer ended the connection without a farewell";
      co_return ReadReply{IoEnd::Broken, 0};
    }
    if (received != IoEnd::Done) co_return ReadReply{received, 0};
  }
}

Task<SendReply> Stream::write_all(std::span<const asio::const_buffer> buffers) {
  return tls_ == nullptr ? connection_->write_all(buffers) : write_secure(buffers);
}

Task<SendReply> Stream::write_secure(std::span<const asio::const_buffer> buffers) {
  SendReply reply;
  if (connection_->expired()) co_return SendReply{IoEnd::Expired, 0};
  for (const asio::const_buffer& buffer : buffers) {
    if (buffer.size() == 0) continue;
    ERR_clear_error();
    std::size_t bytes = 0;
    // Memory takes everything: all of it, or TLS is at its end.
    if (SSL_write_ex(tls_.get(), buffer.data(), buffer.size(), &bytes) != 1) {
      note_failure();
      co_return SendReply{IoEnd::Broken, reply.bytes};
    }
    reply.bytes += bytes;
  }
  reply.end = co_await send_sealed();
  co_return reply;
}

void Stream::shutdown_write() {
  if (tls_ != nullptr && failure_.empty()) {
    ERR_clear_error();
    SSL_shutdown(tls_.get());
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(sealed_, &bytes);
    if (!sending_ && size > 0) {
      const std::array<asio::const_buffer, 1> farewell{
          asio::buffer(bytes, static_cast<std::size_t>(size))};
      static_cast<void>(connection_->write_now(farewell));
    }
    ERR_clear_error();
  }
  connection_->shutdown_write();
}

}  // namespace semel
