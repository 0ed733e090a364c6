// Expected values: RFC 4648, section 10, and python3's base64.b64encode.
#include "core/base64.h"

#include <gtest/gtest.h>

namespace semel {
namespace {

using namespace std::literals;

TEST(Base64, DecodesThePublishedVectors) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("Zg=="), "f");
  EXPECT_EQ(decode_base64("Zm8="), "fo");
  EXPECT_EQ(decode_base64("Zm9v"), "foo");
  EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
  EXPECT_EQ(decode_base64("Zm9vYmE="), "fooba");
  EXPECT_EQ(decode_base64("Zm9vYmFy"), "foobar");
  EXPECT_EQ(decode_base64("AP/++/8A"), "\x00\xFF\xFE\xFB\xFF\x00"sv);
}

TEST(Base64, IsRefusedWhereItIsNotTheOneTextOfItsBytes) {
  for (const char* text : {"Zg", "Zg=", "Zg===", "Z", "Zm9v\n", " Zm9v", "Zm9vZh==", "Zm9=", "Zm-_",
                           "Z===", "====", "Zm=v", "Zg==Zg=="}) {
    EXPECT_FALSE(decode_base64(text)) << text;
  }
}

}  // namespace
}  // namespace semel
