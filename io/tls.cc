#include "io/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace semel {
namespace {

[[noreturn]] void fail(const std::string& what) {
  const char* reason = ERR_reason_error_string(ERR_get_error());
  ERR_clear_error();
  throw TlsError("tls: " + what + (reason == nullptr ? "" : std::string(": ") + reason));
}

void set_common(SSL_CTX* terms) {
  if (terms == nullptr) fail("no memory");
  SSL_CTX_set_min_proto_version(terms, TLS1_2_VERSION);
  SSL_CTX_set_options(terms, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(terms, SSL_MODE_RELEASE_BUFFERS);
}

void show(SSL_CTX* terms, const std::string& certificate, const std::string& key) {
  if (SSL_CTX_use_certificate_chain_file(terms, certificate.c_str()) != 1) {
    fail("certificate " + certificate);
  }
  if (SSL_CTX_use_PrivateKey_file(terms, key.c_str(), SSL_FILETYPE_PEM) != 1) fail("key " + key);
  if (SSL_CTX_check_private_key(terms) != 1) fail(key + " is not the key of " + certificate);
}

void trust(SSL_CTX* terms, const std::string& authorities) {
  if (SSL_CTX_load_verify_file(terms, authorities.c_str()) != 1) {
    fail("certificate authorities " + authorities);
  }
}

}  // namespace

void TlsTerms::Free::operator()(ssl_ctx_st* terms) const { SSL_CTX_free(terms); }

TlsTerms::TlsTerms(const Client& client) : terms_(SSL_CTX_new(TLS_client_method())) {
  set_common(terms_.get());
  if (!client.ca_file.empty()) {
    trust(terms_.get(), client.ca_file);
  } else if (SSL_CTX_set_default_verify_paths(terms_.get()) != 1) {
    fail("the system's certificate authorities");
  }
  if (!client.certificate_file.empty()) {
    show(terms_.get(), client.certificate_file, client.key_file);
  }
  SSL_CTX_set_verify(terms_.get(), SSL_VERIFY_PEER, nullptr);
}

TlsTerms::TlsTerms(const Server& server) : terms_(SSL_CTX_new(TLS_server_method())) {
  set_common(terms_.get());
  show(terms_.get(), server.certificate_file, server.key_file);
  SSL_CTX_set_max_early_data(terms_.get(), 0);
  if (server.client_ca_file.empty()) return;
  trust(terms_.get(), server.client_ca_file);
  SSL_CTX_set_client_CA_list(terms_.get(), SSL_load_client_CA_file(server.client_ca_file.c_str()));
  SSL_CTX_set_verify(terms_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

}  // namespace semel
