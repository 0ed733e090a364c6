#include "core/digest.h"

#include <openssl/evp.h>

#include "core/check.h"

namespace semel {
namespace {

/// Fetched once: a fetch by name takes a lock and costs as much as the hash itself.
const EVP_MD* fetched_sha256() {
  static const EVP_MD* const kAlgorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  SEMEL_CHECK(kAlgorithm != nullptr);
  return kAlgorithm;
}

}  // namespace

Sha256::Sha256() : hash_(EVP_MD_CTX_new()) {
  SEMEL_CHECK(hash_ != nullptr);
  SEMEL_CHECK(EVP_DigestInit_ex2(hash_, fetched_sha256(), nullptr) == 1);
}

Sha256::~Sha256() { EVP_MD_CTX_free(hash_); }

void Sha256::update(std::string_view bytes) {
  SEMEL_CHECK(EVP_DigestUpdate(hash_, bytes.data(), bytes.size()) == 1);
}

Sha256Bytes Sha256::finish() {
  Sha256Bytes digest;
  SEMEL_CHECK(EVP_DigestFinal_ex(hash_, digest.data(), nullptr) == 1);
  SEMEL_CHECK(EVP_DigestInit_ex2(hash_, nullptr, nullptr) == 1);
  return digest;
}

Sha256Bytes sha256(std::string_view bytes) {
  thread_local Sha256 hasher;
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace semel
