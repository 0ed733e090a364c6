// The published vectors of docs/key-format.md. Expected values: tests/support/key_reference.py, a
// second implementation that shares no line with the first.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "tests/core/encoding_decoder.h"
#include "tests/core/key_request.h"
#include "tests/support/corpus.h"

namespace semel {
namespace {

using testing::Json;
using testing::KeyRequest;
using From = ValueSource::From;

std::vector<Json> vectors() {
  return testing::read_rows(SEMEL_SOURCE_DIR "/tests/core/key_vectors.jsonl");
}

std::string unhex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

ValueSource source_of(const std::string& text) {
  static const std::map<std::string, From> kKinds = {
      {"header", From::Header},     {"path", From::PathParam},
      {"query", From::Query},       {"body", From::Body},
      {"constant", From::Constant}, {"authorization", From::AuthorizationDigest}};
  static const std::map<std::string, From> kTls = {
      {"subject", From::TlsSubject}, {"uri", From::TlsUri}, {"dns", From::TlsDns}};
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string subject = text.substr(colon + 1);
  return KeyRequest::source(kind == "tls" ? kTls.at(subject) : kKinds.at(kind), subject);
}

std::optional<ValueSource> optional_source(const Json& json) {
  if (json.kind() == Json::Kind::Null) return std::nullopt;
  return source_of(json.text());
}

KeyRequest request_of(const Json& row) {
  static const std::map<std::string, ClientKey> kClientKeys = {{"ignore", ClientKey::Ignore},
                                                               {"optional", ClientKey::Optional},
                                                               {"required", ClientKey::Required}};
  KeyRequest request;
  Route& route = request.route;
  route.name = row["operation"].text();
  route.pattern = row["pattern"].text();
  if (row["key_version"].kind() == Json::Kind::Number) {
    route.key_version = std::stoi(row["key_version"].text());
  }
  route.key.path = row["path"].text() == "route" ? PathInKey::Route : PathInKey::Concrete;
  route.key.tenant = optional_source(row["tenant"]);
  route.key.run = optional_source(row["run"]);
  route.key.caller = optional_source(row["caller"]);
  for (const Json& field : row["fields"].items()) {
    route.key.fields.push_back(source_of(field.text()));
  }
  for (const Json& guard : row["guards"].items()) {
    route.key.guards.push_back(source_of(guard.text()));
  }
  route.key.client_key = kClientKeys.at(row["client_key"].text());

  request.method = row["method"].text();
  request.path.segments.clear();
  for (const Json& segment : row["segments_hex"].items()) {
    request.path.segments.push_back(unhex(segment.text()));
  }
  for (const auto& [name, value] : row["params_hex"].members()) {
    request.params.emplace_back(name, unhex(value.text()));
  }
  if (row["query"].kind() == Json::Kind::String) request.query = row["query"].text();
  request.headers.clear();
  for (const Json& header : row["headers"].items()) {
    request.header(header.items()[0].text(), header.items()[1].text());
  }
  request.body = unhex(row["body_hex"].text());
  request.tls = {row["tls"]["subject"].text(), row["tls"]["uri"].text(), row["tls"]["dns"].text()};
  return request;
}

TEST(KeyVectors, EveryKeyIsWhatTheSecondImplementationSays) {
  const std::vector<Json> rows = vectors();
  ASSERT_GE(rows.size(), 12u);
  for (const Json& row : rows) {
    const auto answer = request_of(row).explain();
    if (const auto* refusal = std::get_if<KeyRefusal>(&answer)) {
      ADD_FAILURE() << row["name"].text() << ": " << refusal->detail;
      continue;
    }
    const auto& explained = std::get<KeyExplanation>(answer);
    EXPECT_EQ(explained.canonical_hex, row["canonical"].text()) << row["name"].text();
    EXPECT_EQ(to_hex(explained.derived.key), row["key"].text()) << row["name"].text();
  }
}

TEST(KeyVectors, EveryBindingIsWhatTheSecondImplementationSays) {
  for (const Json& row : vectors()) {
    const DerivedKey derived = request_of(row).key();
    EXPECT_EQ(to_hex(derived.key), row["key"].text()) << row["name"].text();
    const Bindings& bindings = derived.bindings;
    EXPECT_EQ(to_hex(bindings.caller), row["digest_caller"].text()) << row["name"].text();
    EXPECT_EQ(to_hex(bindings.guards), row["digest_guards"].text()) << row["name"].text();
    EXPECT_EQ(to_hex(bindings.fingerprint), row["digest_fingerprint"].text()) << row["name"].text();
  }
}

TEST(KeyVectors, EveryEncodingComesApartInOneWayOnly) {
  std::set<std::string> encodings;
  for (const Json& row : vectors()) {
    const std::string bytes = unhex(row["canonical"].text());
    const auto decoded = testing::decode(bytes);
    ASSERT_TRUE(decoded) << row["name"].text();
    EXPECT_EQ(decoded->tag, 'K') << row["name"].text();
    EXPECT_EQ(decoded->children.size(), 9u) << row["name"].text();
    EXPECT_EQ(testing::encode(*decoded), bytes) << row["name"].text();
    EXPECT_TRUE(encodings.insert(bytes).second) << row["name"].text();
  }
}

TEST(KeyVectors, NoBeginningOfAnEncodingIsAnEncoding) {
  for (const Json& row : vectors()) {
    const std::string bytes = unhex(row["canonical"].text());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(testing::decode(bytes.substr(0, size))) << row["name"].text() << " " << size;
    }
    EXPECT_FALSE(testing::decode(bytes + '\0')) << row["name"].text();
  }
}

TEST(KeyVectors, ThePageShowsEveryOneOfThem) {
  std::ifstream stream(SEMEL_SOURCE_DIR "/docs/key-format.md");
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  for (const Json& row : vectors()) {
    EXPECT_NE(page.find("- key `" + row["key"].text() + "`"), page.npos)
        << row["name"].text() << ": print it with tests/support/key_reference.py --page";
  }
}

}  // namespace
}  // namespace semel
