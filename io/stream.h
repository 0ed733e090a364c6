#pragma once

#include <memory>
#include <span>
#include <string>

#include "io/tcp.h"
#include "io/tls.h"

struct ssl_st;
struct bio_st;

namespace semel {

/// One connection, plain or inside TLS, read and written alike.
/// @thread One worker's; one coroutine may read while another one writes.
class Stream {
 public:
  explicit Stream(std::unique_ptr<Connection> connection);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// From here on everything is inside TLS.
  /// @param name  Who the peer has to prove to be, and is told to be wanted (SNI): a host's name,
  ///              or an address.
  /// @return Done: the peer's certificate is for `name` and from an authority that is trusted.
  ///         Anything else: failure() says why, and not one byte of ours was sent.
  [[nodiscard]] Task<IoEnd> secure_as_client(std::shared_ptr<const TlsTerms> terms,
                                             std::string name);
  /// The other side of it.
  [[nodiscard]] Task<IoEnd> secure_as_server(std::shared_ptr<const TlsTerms> terms);
  [[nodiscard]] bool is_secure() const { return tls_ != nullptr; }
  /// Why TLS failed, in OpenSSL's words; empty where it did not.
  [[nodiscard]] const std::string& failure() const { return failure_; }

  /// As Connection::read_some. Inside TLS an end without a farewell is Broken: the peer's last
  /// bytes may be missing.
  [[nodiscard]] Task<ReadReply> read_some(std::span<char> room);
  /// As Connection::write_all. Inside TLS `bytes` counts those that were handed to TLS.
  [[nodiscard]] Task<SendReply> write_all(std::span<const asio::const_buffer> buffers);
  /// Ends our side only; inside TLS with a farewell, as far as the kernel takes it at once.
  void shutdown_write();

  [[nodiscard]] Connection& connection() { return *connection_; }

 private:
  struct Free {
    void operator()(ssl_st* tls) const;
  };
  void begin_tls(std::shared_ptr<const TlsTerms> terms);
  [[nodiscard]] bool expect_name(const std::string& name);
  [[nodiscard]] Task<IoEnd> shake_hands();
  [[nodiscard]] Task<ReadReply> read_secure(std::span<char> room);
  [[nodiscard]] Task<SendReply> write_secure(std::span<const asio::const_buffer> buffers);
  /// Hands what TLS has to say to the kernel.
  [[nodiscard]] Task<IoEnd> send_sealed();
  /// Waits for bytes and hands them to TLS.
  [[nodiscard]] Task<IoEnd> receive_sealed();
  void note_failure();

  const std::unique_ptr<Connection> connection_;
  std::shared_ptr<const TlsTerms> terms_;
  std::unique_ptr<ssl_st, Free> tls_;
  bio_st* arrived_ = nullptr;  ///< Owned by tls_: sealed bytes of the peer's.
  bio_st* sealed_ = nullptr;   ///< Owned by tls_: sealed bytes of ours that are still to be sent.
  std::string arriving_;       ///< Room for one read. Inside TLS only, as is
  std::string leaving_;        ///< what one write hands to the kernel.
  bool sending_ = false;       ///< One coroutine sends for both.
  std::string failure_;
};

}  // namespace semel
