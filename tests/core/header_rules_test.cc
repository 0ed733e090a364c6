#include "core/header_rules.h"

#include <gtest/gtest.h>

#include <string>

namespace semel {
namespace {

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return result;
}

TEST(HeaderRules, NamesCompareWithoutCase) {
  EXPECT_TRUE(same_name("Content-Type", "cONTENT-tYPE"));
  EXPECT_FALSE(same_name("Content-Type", "Content-Typ"));
  EXPECT_FALSE(same_name("X-A[", "X-A{"));  // 0x20 apart and no letters
  EXPECT_FALSE(same_name("X-\xC9", "X-\xE9"));
  EXPECT_TRUE(same_name("", ""));
}

TEST(HeaderRules, EveryByteComparesTheSameAtEveryPlaceOfANameOfAnyLength) {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        const int twin = byte ^ 0x20;
        const bool is_letter = (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
        std::string a(size, 'x');
        std::string b(size, 'X');
        a[place] = static_cast<char>(byte);
        b[place] = static_cast<char>(twin);
        ASSERT_EQ(same_name(a, b), is_letter) << size << " " << place << " " << byte;
        b[place] = a[place];
        ASSERT_TRUE(same_name(a, b)) << size << " " << place << " " << byte;
      }
    }
  }
}

TEST(HeaderRules, EveryByteIsJudgedTheSameAtEveryPlaceOfAValueOfAnyLength) {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        const bool is_allowed = (byte >= 0x20 && byte != 0x7F) || byte == '\t';
        std::string value(size, ' ');
        value[place] = static_cast<char>(byte);
        ASSERT_EQ(is_field_value(value), is_allowed) << size << " " << place << " " << byte;
      }
    }
  }
}

TEST(HeaderRules, Rfc9110Section7_6_1HopByHopFieldsEndHere) {
  for (const char* name : {"connection", "keep-alive", "proxy-connection", "te", "trailer",
                           "transfer-encoding", "upgrade", "proxy-authenticate",
                           "proxy-authorization", "proxy-authentication-info", "http2-settings"}) {
    EXPECT_TRUE(is_hop_by_hop(name)) << name;
    EXPECT_TRUE(is_hop_by_hop(upper(name))) << name;
    EXPECT_FALSE(is_stored(name)) << name;
  }
  for (const char* name : {"connections", "keep_alive", "tea", "trailers", "upgrades", "host",
                           "authorization", "content-encoding", ""}) {
    EXPECT_FALSE(is_hop_by_hop(name)) << name;
  }
}

TEST(HeaderRules, WhatBelongsToOneAnswerOnlyIsNotStored) {
  for (const char* name :
       {"set-cookie", "www-authenticate", "proxy-status", "date", "server-timing", "alt-svc",
        "traceparent", "tracestate", "traceresponse", "b3", "x-b3-traceid", "baggage",
        "uber-trace-id", "x-amzn-trace-id", "x-cloud-trace-context", "content-length"}) {
    EXPECT_FALSE(is_stored(name)) << name;
    EXPECT_FALSE(is_stored(upper(name))) << name;
  }
}

TEST(HeaderRules, EverythingElseIsReplayed) {
  for (const char* name :
       {"content-type", "content-encoding", "location", "etag", "x-request-id", "cache-control",
        "retry-after", "set-cookie2", "dates", "x-b3", "proxying", "content_length", "x"}) {
    EXPECT_TRUE(is_stored(name)) << name;
  }
}

TEST(HeaderRules, AnUpstreamCannotSpeakForSemel) {
  for (const char* name : {"idempotent-replayed", "idempotency-status", "idempotency-ref",
                           "idempotency-key", "x-should-retry", "stripe-should-retry"}) {
    EXPECT_TRUE(is_our_answer_field(name)) << name;
    EXPECT_TRUE(is_our_answer_field(upper(name))) << name;
    EXPECT_FALSE(is_stored(name)) << name;
  }
  EXPECT_FALSE(is_our_answer_field("idempotency-keys"));
  EXPECT_FALSE(is_our_answer_field("retry-after"));
}

TEST(HeaderRules, Rfc9110Section5_6_2Token) {
  EXPECT_TRUE(is_token("!#$%&'*+-.^_`|~09azAZ"));
  for (const char* text :
       {"", "a b", "a:", "a\t", "(a)", "a,b", "a/b", "a=b", "\"a\"", "\xC3\xA9"}) {
    EXPECT_FALSE(is_token(text)) << text;
  }
  EXPECT_FALSE(is_token(std::string_view("a\0b", 3)));
}

TEST(HeaderRules, Rfc9110Section5_5FieldValue) {
  EXPECT_TRUE(is_field_value(""));
  EXPECT_TRUE(is_field_value("a\tb \xC3\xA9\xFF"));
  for (const char* text : {"a\r", "a\nb", "\x01", "\x1F", "\x7F"}) {
    EXPECT_FALSE(is_field_value(text));
  }
  EXPECT_FALSE(is_field_value(std::string_view("\0", 1)));
}

TEST(HeaderRules, Rfc9110Section5_6_1ListsNameTheirWords) {
  EXPECT_TRUE(list_names("close", "close"));
  EXPECT_TRUE(list_names("keep-alive , \tUPGRADE", "upgrade"));
  EXPECT_TRUE(list_names(",,close,", "close"));
  EXPECT_FALSE(list_names("closed, not-close, clo se", "close"));
  EXPECT_FALSE(list_names("", "close"));
}

TEST(HeaderRules, UnderscoreTwinsAreWhatCgiCannotTellApart) {
  EXPECT_TRUE(is_underscore_twin("X_Tenant-id", "x-tenant-Id"));
  EXPECT_TRUE(is_underscore_twin("Content_Length", "Content-Length"));
  EXPECT_TRUE(is_underscore_twin("X-Tenant", "X_Tenant"));
  EXPECT_FALSE(is_underscore_twin("X-Tenant", "x-tenant"));
  EXPECT_FALSE(is_underscore_twin("X_Tenants", "X-Tenant"));
  EXPECT_FALSE(is_underscore_twin("X.Tenant", "X-Tenant"));
}

}  // namespace
}  // namespace semel
