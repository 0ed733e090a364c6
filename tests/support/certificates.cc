#include "tests/support/certificates.h"

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "tests/support/installed.h"
#include "tests/support/process.h"

namespace semel::testing {
namespace {

void openssl(std::vector<std::string> words) {
  words.insert(words.begin(), installed("openssl").value());
  const Finished finished = run(words);
  if (!finished.exit || finished.exit->code != 0) {
    throw std::runtime_error("openssl " + words[1] + ": " + finished.err);
  }
}

std::vector<std::string> request(const std::string& key, const std::string& certificate) {
  return {"req",      "-x509", "-newkey", "ec",      "-pkeyopt", "ec_paramgen_curve:P-256",
          "-nodes",   "-days", "1",       "-keyout", key,        "-out",
          certificate};
}

}  // namespace

Certificates make_certificates(const std::string& folder) {
  const Certificates made{folder + "/ca.pem", folder + "/server.pem", folder + "/server.key"};
  const std::string ca_key = folder + "/ca.key";
  std::vector<std::string> ca = request(ca_key, made.ca);
  ca.insert(ca.end(), {"-subj", "/CN=tests"});
  openssl(ca);
  std::vector<std::string> server = request(made.key, made.certificate);
  server.insert(server.end(), {"-CA", made.ca, "-CAkey", ca_key, "-subj", "/CN=localhost",
                               "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext",
                               "basicConstraints=critical,CA:false"});
  openssl(server);
  std::filesystem::permissions(made.key, std::filesystem::perms::owner_read);
  return made;
}

}  // namespace semel::testing
