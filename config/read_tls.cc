#include "config/read_tls.h"

namespace semel::config {

TlsFiles read_client_tls(const Mapping& mapping) {
  TlsFiles tls;
  if (const auto value = mapping.find("ca")) tls.ca = value->nonempty_text();
  if (const auto value = mapping.find("certificate")) tls.certificate = value->nonempty_text();
  if (const auto value = mapping.find("key")) tls.key = value->nonempty_text();
  if (tls.certificate.empty() != tls.key.empty()) {
    mapping.fail("tls: a certificate and its key go together; write both or neither");
  }
  return tls;
}

}  // namespace semel::config
