// Expected values: FIPS 180-4, the examples that NIST publishes for SHA-256.
#include "core/digest.h"

#include <gtest/gtest.h>

#include <string>

#include "core/ascii.h"

namespace semel {
namespace {

std::string hex(const Sha256Bytes& digest) { return to_hex(digest.data(), digest.size()); }

constexpr std::string_view kOfAbc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr std::string_view kOfNothing =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr std::string_view kOfAMillionA =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

TEST(Digest, AgreesWithThePublishedExamples) {
  EXPECT_EQ(hex(sha256("abc")), kOfAbc);
  EXPECT_EQ(hex(sha256("")), kOfNothing);
  EXPECT_EQ(hex(sha256(std::string(1'000'000, 'a'))), kOfAMillionA);
}

TEST(Digest, PiecesHashAsTheirWholeAndAFinishedHasherIsAsNew) {
  Sha256 hasher;
  for (int i = 0; i < 1000; ++i) hasher.update(std::string(1000, 'a'));
  EXPECT_EQ(hex(hasher.finish()), kOfAMillionA);
  hasher.update("a");
  hasher.update("bc");
  EXPECT_EQ(hex(hasher.finish()), kOfAbc);
  EXPECT_EQ(hex(hasher.finish()), kOfNothing);
}

}  // namespace
}  // namespace semel
