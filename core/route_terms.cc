// The terms of the routes as bytes and back. Pure: stores keep the bytes, proxy compares the terms.
// A reader takes exactly what the writer writes; whatever else stands there is a fault.

#include "core/route_terms.h"

#include <algorithm>
#include <cstdint>

#include "core/ascii.h"
#include "core/route_pattern.h"
#include "core/source_value.h"

namespace semel {
namespace {

constexpr char kFormat = 1;

class Writer {
 public:
  explicit Writer(std::string& bytes) : bytes_(bytes) {}

  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  template <class Word>
  void word(Word value) {
    byte(static_cast<std::uint8_t>(value));
  }
  void number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void count(std::size_t value) {
    for (int i = 0; i < 4; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void seconds(const std::optional<std::chrono::seconds>& value) {
    byte(value.has_value() ? 1 : 0);
    if (value) number(static_cast<std::uint64_t>(value->count()));
  }
  void text(std::string_view value) {
    count(value.size());
    bytes_.append(value);
  }
  void source(const ValueSource& value) {
    word(value.from);
    text(value.text);
  }
  void maybe(const std::optional<ValueSource>& value) {
    byte(value.has_value() ? 1 : 0);
    if (value.has_value()) source(*value);
  }
  void all(const std::vector<ValueSource>& values) {
    count(values.size());
    for (const ValueSource& value : values) source(value);
  }

 private:
  std::string& bytes_;
};

/// Ends at the first thing that is wrong: `failed` is then true, and what was read is worth
/// nothing.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool is_at_end() const { return bytes_.empty(); }
  [[nodiscard]] std::string_view rest() const { return bytes_; }

  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) failed_ = true;
    if (failed_) return {};
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::uint64_t number(int size = 8) {
    const std::string_view taken = take(static_cast<std::size_t>(size));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(taken[i])) << (8 * i);
    }
    return value;
  }
  /// @param last  The highest word that is listed.
  template <class Word>
  Word word(Word last) {
    const std::uint64_t value = number(1);
    if (value > static_cast<std::uint64_t>(last)) failed_ = true;
    return failed_ ? Word{} : static_cast<Word>(value);
  }
  std::optional<std::chrono::seconds> seconds() {
    if (!flag()) return std::nullopt;
    return std::chrono::seconds(static_cast<std::int64_t>(number()));
  }
  bool flag() { return word<std::uint8_t>(1) == 1; }
  std::string text() { return std::string(take(number(4))); }
  ValueSource source() {
    ValueSource value;
    value.from = word(ValueSource::From::AuthorizationDigest);
    value.text = text();
    return value;
  }
  std::optional<ValueSource> maybe() { return flag() ? std::optional(source()) : std::nullopt; }
  template <class Value, class Read>
  std::vector<Value> all(Read read) {
    std::vector<Value> values;
    for (std::uint64_t left = number(4); left > 0 && !failed_; --left) values.push_back(read());
    return values;
  }
  std::vector<ValueSource> sources() {
    return all<ValueSource>([this] { return source(); });
  }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

void write_recipe(const KeyRecipe& key, const std::optional<int>& version, Writer& writer) {
  writer.maybe(key.tenant);
  writer.maybe(key.run);
  writer.all(key.fields);
  writer.word(key.path);
  writer.all(key.guards);
  writer.maybe(key.caller);
  writer.word(key.client_key);
  writer.byte(version.has_value() ? 1 : 0);
  if (version) writer.count(static_cast<std::size_t>(*version));
}

void read_recipe(Reader& reader, KeyRecipe& key, std::optional<int>& version) {
  key.tenant = reader.maybe();
  key.run = reader.maybe();
  key.fields = reader.sources();
  key.path = reader.word(PathInKey::Route);
  key.guards = reader.sources();
  key.caller = reader.maybe();
  key.client_key = reader.word(ClientKey::Required);
  if (reader.flag()) version = static_cast<int>(reader.number(4));
}

void write_earlier(const std::vector<EarlierTerms>& earlier, Writer& writer) {
  writer.count(earlier.size());
  for (const EarlierTerms& terms : earlier) {
    writer.text(terms.pattern);
    write_recipe(terms.key, terms.key_version, writer);
  }
}

EarlierTerms read_earlier(Reader& reader) {
  EarlierTerms terms;
  terms.pattern = reader.text();
  read_recipe(reader, terms.key, terms.key_version);
  return terms;
}

/// What the digest is taken of.
void write_identity(const RouteTerms& terms, Writer& writer) {
  writer.text(terms.name);
  writer.word(terms.policy);
  writer.word(terms.mode);
  writer.count(terms.methods.size());
  for (const std::string& method : terms.methods) writer.text(method);
  writer.text(terms.pattern);
  write_recipe(terms.key, terms.key_version, writer);
}

void read_identity(Reader& reader, RouteTerms& terms) {
  terms.name = reader.text();
  terms.policy = reader.word(Policy::Effectful);
  terms.mode = reader.word(Mode::Off);
  terms.methods = reader.all<std::string>([&reader] { return reader.text(); });
  terms.pattern = reader.text();
  read_recipe(reader, terms.key, terms.key_version);
}

std::string_view view_of(const Sha256Bytes& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

RouteTerms read_terms(Reader& reader) {
  RouteTerms terms;
  const std::string_view digest = reader.take(Sha256Bytes{}.size());
  const std::string_view from_here = reader.rest();
  read_identity(reader, terms);
  const std::string_view identity = from_here.substr(0, from_here.size() - reader.rest().size());
  if (reader.failed() || view_of(sha256(identity)) != digest) {
    reader.take(std::string_view::npos);
    return terms;
  }
  terms.retention = std::chrono::seconds(static_cast<std::int64_t>(reader.number()));
  terms.indeterminate_retention = reader.seconds();
  terms.earlier = reader.all<EarlierTerms>([&reader] { return read_earlier(reader); });
  return terms;
}

void spell_plainly(ValueSource& source) {
  source.stable = false;
  if (source.from == ValueSource::From::Header) source.text = lower_case(source.text);
}

void spell_plainly(std::vector<ValueSource>& sources) {
  for (ValueSource& source : sources) spell_plainly(source);
  std::ranges::sort(sources, {}, encoded_name);
}

}  // namespace

RouteTerms terms_of(const Route& route) {
  RouteTerms terms{route.name,
                   route.policy,
                   route.mode,
                   route.methods,
                   route.pattern,
                   route.key,
                   route.key_version,
                   route.retention,
                   route.indeterminate_retention,
                   {}};
  std::ranges::sort(terms.methods);
  for (auto* source : {&terms.key.tenant, &terms.key.run, &terms.key.caller}) {
    if (source->has_value()) spell_plainly(**source);
  }
  spell_plainly(terms.key.fields);
  spell_plainly(terms.key.guards);
  return terms;
}

std::vector<RouteTerms> terms_of(const std::vector<Route>& routes) {
  std::vector<RouteTerms> terms;
  terms.reserve(routes.size());
  for (const Route& route : routes) terms.push_back(terms_of(route));
  return terms;
}

Route sketch_of(const RouteTerms& terms) {
  Route route;
  route.name = terms.name;
  route.policy = terms.policy;
  route.mode = terms.mode;
  route.methods = terms.methods;
  route.pattern = terms.pattern;
  auto segments = parse_pattern(terms.pattern);
  if (auto* parsed = std::get_if<std::vector<PatternSegment>>(&segments)) {
    route.segments = std::move(*parsed);
  }
  route.key = terms.key;
  route.key_version = terms.key_version;
  route.retention = terms.retention;
  route.indeterminate_retention = terms.indeterminate_retention;
  return route;
}

Sha256Bytes digest_of(const RouteTerms& terms) {
  std::string identity;
  Writer writer(identity);
  write_identity(terms, writer);
  return sha256(identity);
}

std::string encode_terms(const std::vector<RouteTerms>& routes) {
  std::string bytes(1, kFormat);
  Writer writer(bytes);
  writer.count(routes.size());
  for (const RouteTerms& terms : routes) {
    bytes.append(view_of(digest_of(terms)));
    write_identity(terms, writer);
    writer.number(static_cast<std::uint64_t>(terms.retention.count()));
    writer.seconds(terms.indeterminate_retention);
    write_earlier(terms.earlier, writer);
  }
  return bytes;
}

Result<std::vector<RouteTerms>> decode_terms(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != kFormat) return Fault::RecordCorrupt;
  Reader reader(bytes.substr(1));
  auto routes = reader.all<RouteTerms>([&reader] { return read_terms(reader); });
  if (reader.failed() || !reader.is_at_end()) return Fault::RecordCorrupt;
  return routes;
}

}  // namespace semel
