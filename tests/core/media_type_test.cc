#include "core/media_type.h"

#include <gtest/gtest.h>

namespace semel {
namespace {

TEST(MediaType, SaysHowABodyIsRead) {
  struct Row {
    std::string_view value;
    MediaKind kind;
  };
  const Row rows[] = {
      {"application/json", MediaKind::Json},
      {"Application/JSON", MediaKind::Json},
      {"application/json; charset=utf-8", MediaKind::Json},
      {"application/json;charset=\"UTF-8\"", MediaKind::Json},
      {"application/json ; charset=utf-8 ; v=1", MediaKind::Json},
      {"application/json;", MediaKind::Json},
      {"application/vnd.acme+json", MediaKind::Json},
      {"application/problem+JSON; profile=\"a;b\"", MediaKind::Json},
      {"application/json; charset=latin1", MediaKind::Other},
      {"application/json; charset=utf-16", MediaKind::Other},
      {"application/json; charset=utf-8; charset=utf-8", MediaKind::Other},
      {"application/json; charset", MediaKind::Other},
      {"application/json; charset=\"utf-8", MediaKind::Other},
      {"application/json, text/plain", MediaKind::Other},
      {"application/+json", MediaKind::Other},
      {"application/jsonp", MediaKind::Other},
      {"text/json", MediaKind::Other},
      {"application", MediaKind::Other},
      {"", MediaKind::Other},
      {"application/x-www-form-urlencoded", MediaKind::Form},
      {"application/x-www-form-urlencoded; charset=UTF-8", MediaKind::Form},
      {"application/x-www-form-urlencoded; charset=latin1", MediaKind::Other},
      {"multipart/form-data; boundary=x", MediaKind::Multipart},
      {"Multipart/Mixed", MediaKind::Multipart},
      {"multipart/form-data; boundary", MediaKind::Multipart},
  };
  for (const Row& row : rows) EXPECT_EQ(read_media_type(row.value).kind, row.kind) << row.value;
}

TEST(MediaType, KnowsABoundaryQuotedOrBare) {
  EXPECT_EQ(read_media_type("multipart/form-data; boundary=--x1").boundary, "--x1");
  EXPECT_EQ(read_media_type("multipart/mixed; a=b; Boundary=\"x y;\\\"z\"").boundary, "x y;\"z");
  EXPECT_EQ(read_media_type("multipart/mixed").boundary, "");
}

}  // namespace
}  // namespace semel
