// The bytes of a record on disk. Decoding trusts nothing: whatever is not exactly what encoding
// writes is RecordCorrupt, and an unreadable record is never read as an absent one.
#include "stores/record_codec.h"

#include <array>
#include <type_traits>
#include <utility>

#include "core/header_rules.h"

namespace semel {
namespace {

constexpr std::uint8_t kVersion = 1;
enum class Kind : std::uint8_t { Record = 1, Erased = 2, Response = 3 };
constexpr std::size_t kChecksumBytes = 4;

/// Appends little-endian integers and length-prefixed strings.
class Writer {
 public:
  explicit Writer(Kind kind, std::size_t size_hint) {
    bytes_.reserve(size_hint);
    number(kVersion);
    number(static_cast<std::uint8_t>(kind));
  }
  template <class Integer>
  void number(Integer value) {
    auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
    std::array<char, sizeof bits> bytes;
    for (std::size_t i = 0; i < sizeof bits; ++i) {
      bytes[i] = static_cast<char>((bits >> (8 * i)) & 0xFF);
    }
    bytes_.append(bytes.data(), bytes.size());
  }
  template <std::size_t N>
  void raw(const std::array<std::uint8_t, N>& bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), N);
  }
  void text(std::string_view text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
  }
  std::string finish() && {
    number(crc32(bytes_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
};

/// Takes the same off again. After the first misfit `ok()` is false and every value is zero or
/// empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) {
    if (bytes.size() < kChecksumBytes) {
      ok_ = false;
      return;
    }
    left_ = bytes.substr(bytes.size() - kChecksumBytes);
    const auto stored = number<std::uint32_t>();
    left_ = bytes.substr(0, bytes.size() - kChecksumBytes);
    ok_ = crc32(left_) == stored && number<std::uint8_t>() == kVersion;
  }
  template <class Integer>
  Integer number() {
    std::make_unsigned_t<Integer> bits = 0;
    const std::string_view bytes = take(sizeof bits);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bits = static_cast<decltype(bits)>(
          bits | static_cast<decltype(bits)>(static_cast<std::uint8_t>(bytes[i])) << (8 * i));
    }
    return static_cast<Integer>(bits);
  }
  template <std::size_t N>
  void raw(std::array<std::uint8_t, N>& into) {
    const std::string_view bytes = take(N);
    std::copy(bytes.begin(), bytes.end(), into.begin());
  }
  std::string text() { return std::string(take(number<std::uint32_t>())); }
  /// @param last  The highest enumerator: a greater number is a misfit.
  template <class Enum>
  Enum word(Enum last) {
    const auto number_read = number<std::uint8_t>();
    if (number_read > static_cast<std::uint8_t>(last)) ok_ = false;
    return ok_ ? static_cast<Enum>(number_read) : Enum{};
  }
  bool flag() { return word(Flag::Set) == Flag::Set; }
  void fail() { ok_ = false; }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool finished() const { return ok_ && left_.empty(); }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

 private:
  enum class Flag : std::uint8_t { Clear, Set };

  std::string_view take(std::size_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }

  std::string_view left_;
  bool ok_ = true;
};

std::int64_t wall_ns(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::chrono::system_clock::time_point wall_time(std::int64_t ns) {
  return std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          std::chrono::nanoseconds(ns)));
}

Record read_record(Reader& reader) {
  Record record;
  ClaimTerms terms;
  Record::Extras extras;
  record.state = reader.word(Record::State::Freed);
  terms.policy = reader.word(Policy::Effectful);
  record.forgotten = reader.flag();
  reader.raw(record.token.bytes);
  record.fence.value = reader.number<std::uint64_t>();
  reader.raw(record.reference.bytes);
  reader.raw(terms.caller.bytes);
  reader.raw(extras.guards.bytes);
  reader.raw(extras.fingerprint.bytes);
  terms.tenant = reader.text();
  terms.route = reader.text();
  record.lease_end = StoreTime(reader.number<std::int64_t>());
  record.changed_at = StoreTime(reader.number<std::int64_t>());
  terms.retention = std::chrono::seconds(reader.number<std::int64_t>());
  if (reader.flag()) {
    terms.indeterminate_retention = std::chrono::seconds(reader.number<std::int64_t>());
  }
  record.created = wall_time(reader.number<std::int64_t>());
  record.changed = wall_time(reader.number<std::int64_t>());
  record.reason = reader.word(IndeterminateReason::Internal);
  if (reader.flag()) record.upstream_status = reader.number<std::uint16_t>();
  if (reader.flag()) {
    FreedAttempt freed;
    reader.raw(freed.token.bytes);
    freed.fence.value = reader.number<std::uint64_t>();
    extras.freed_before = freed;
  }
  record.terms = std::make_shared<const ClaimTerms>(std::move(terms));
  record.set_extras(extras.guards, extras.fingerprint, extras.freed_before);
  return record;
}

}  // namespace

std::string encode_record(const IdempotencyKey& key, const Record& record) {
  const ClaimTerms& terms = *record.terms;
  const Bindings bindings = record.bindings();
  Writer writer(Kind::Record, 320 + terms.tenant.size() + terms.route.size());
  writer.raw(key.bytes);
  writer.number(static_cast<std::uint8_t>(record.state));
  writer.number(static_cast<std::uint8_t>(terms.policy));
  writer.number(static_cast<std::uint8_t>(record.forgotten));
  writer.raw(record.token.bytes);
  writer.number(record.fence.value);
  writer.raw(record.reference.bytes);
  writer.raw(bindings.caller.bytes);
  writer.raw(bindings.guards.bytes);
  writer.raw(bindings.fingerprint.bytes);
  writer.text(terms.tenant);
  writer.text(terms.route);
  writer.number(std::int64_t{record.lease_end.count()});
  writer.number(std::int64_t{record.changed_at.count()});
  writer.number(std::int64_t{terms.retention.count()});
  writer.number(static_cast<std::uint8_t>(terms.indeterminate_retention.has_value()));
  if (terms.indeterminate_retention) {
    writer.number(std::int64_t{terms.indeterminate_retention->count()});
  }
  writer.number(wall_ns(record.created));
  writer.number(wall_ns(record.changed));
  writer.number(static_cast<std::uint8_t>(record.reason));
  writer.number(static_cast<std::uint8_t>(record.upstream_status.has_value()));
  if (record.upstream_status) writer.number(*record.upstream_status);
  const auto freed_before = record.freed_before();
  writer.number(static_cast<std::uint8_t>(freed_before.has_value()));
  if (freed_before) {
    writer.raw(freed_before->token.bytes);
    writer.number(freed_before->fence.value);
  }
  return std::move(writer).finish();
}

std::string encode_erased(const IdempotencyKey& key) {
  Writer writer(Kind::Erased, 64);
  writer.raw(key.bytes);
  return std::move(writer).finish();
}

Result<LogEntry> decode_entry(std::string_view bytes) {
  Reader reader(bytes);
  const auto kind = static_cast<Kind>(reader.number<std::uint8_t>());
  IdempotencyKey key;
  reader.raw(key.bytes);
  if (kind == Kind::Erased && reader.finished()) return LogEntry(ErasedEntry{key});
  if (kind != Kind::Record) return Fault::RecordCorrupt;
  RecordEntry entry{key, read_record(reader)};
  if (!reader.finished()) return Fault::RecordCorrupt;
  return LogEntry(std::move(entry));
}

std::string encode_response(const StoredResponse& response) {
  return encode_response(semel::view_of(response));
}

std::string encode_response(const AnswerView& answer) {
  const FieldLines::Iterator first(answer.lines);
  const FieldLines::Iterator last({});
  const auto fields = static_cast<std::uint32_t>(std::distance(first, last));
  Writer writer(Kind::Response, 32 + answer.lines.size() + answer.body.size() + 8 * fields);
  writer.number(answer.status);
  writer.number(static_cast<std::uint8_t>(answer.kept));
  writer.number(static_cast<std::uint8_t>(answer.unframed));
  writer.number(fields);
  for (auto line = first; line != last; ++line) {
    const HeaderField field = *line;
    writer.text(field.name);
    writer.text(field.value);
  }
  writer.text(answer.body);
  return std::move(writer).finish();
}

Result<StoredResponsePtr> decode_response(std::string_view bytes) {
  Reader reader(bytes);
  if (static_cast<Kind>(reader.number<std::uint8_t>()) != Kind::Response) {
    return Fault::RecordCorrupt;
  }
  auto response = std::make_shared<StoredResponse>();
  response->status = reader.number<std::uint16_t>();
  response->kept = reader.word(BodyKept::NotKept);
  response->unframed = reader.flag();
  const auto fields = reader.number<std::uint32_t>();
  // Each field takes eight bytes at least, so a count that lies cannot make us reserve much.
  if (fields > reader.left() / 8) reader.fail();
  for (std::uint32_t i = 0; reader.ok() && i < fields; ++i) {
    const std::string name = reader.text();
    const std::string value = reader.text();
    if (is_token(name) && is_field_value(value)) {
      response->fields.push_back({name, value});
    } else {
      reader.fail();
    }
  }
  response->body = reader.text();
  if (!reader.finished()) return Fault::RecordCorrupt;
  return StoredResponsePtr(std::move(response));
}

}  // namespace semel
