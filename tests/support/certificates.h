#pragma once

#include <string>

namespace semel::testing {

/// A certificate authority of the test's own and what it has signed, as PEM files in a folder.
struct Certificates {
  std::string ca;
  std::string certificate;  ///< Of 127.0.0.1 and localhost.
  std::string key;          ///< Of the same; only its owner may read it.
};

/// Makes them, good for a day. @throws std::runtime_error if openssl(1) is not here or refuses.
[[nodiscard]] Certificates make_certificates(const std::string& folder);

}  // namespace semel::testing
