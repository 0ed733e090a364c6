#pragma once

#include <memory>
#include <stdexcept>
#include <string>

struct ssl_ctx_st;

namespace semel {

/// Files that cannot be read or do not fit: a bad start.
class TlsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whom one side of TLS trusts and what it shows of itself: TLS 1.2 or later, no renegotiation, no
/// early data.
/// @thread Any; it does not change once it is made.
class TlsTerms {
 public:
  struct Client {
    std::string ca_file;           ///< PEM; empty: those that the system trusts.
    std::string certificate_file;  ///< PEM, with its chain; empty: it shows none.
    std::string key_file;
  };
  struct Server {
    std::string certificate_file;
    std::string key_file;
    std::string
        client_ca_file;  ///< Not empty: a client without a certificate of theirs is refused.
  };

  /// @throws TlsError
  explicit TlsTerms(const Client& client);
  /// @throws TlsError
  explicit TlsTerms(const Server& server);

  [[nodiscard]] ssl_ctx_st* native() const { return terms_.get(); }

 private:
  struct Free {
    void operator()(ssl_ctx_st* terms) const;
  };
  std::unique_ptr<ssl_ctx_st, Free> terms_;
};

}  // namespace semel
