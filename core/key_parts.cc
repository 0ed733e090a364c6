// Reads what a key is made of. It refuses rather than guesses: whatever is absent, repeated or
// readable in two ways ends here, before anything is hashed. Called by core/key and
// core/key_explain.

#include "core/key_parts.h"

#include <algorithm>
#include <span>

#include "core/ascii.h"
#include "core/client_key.h"
#include "core/form.h"
#include "core/header_rules.h"

namespace semel {
namespace {

using Refused = std::optional<KeyRefusal>;

/// The lines that every keyed request is asked for, found in one pass over its head.
struct KnownLines {
  explicit KnownLines(std::span<const HeaderField> headers) {
    for (const HeaderField& field : headers) {
      // By length first: nearly every line ends here.
      switch (field.name.size()) {
        case kContentType.size():
          if (same_name(field.name, kContentType)) content_type.take(field.value);
          break;
        case kClientKey.size():
          if (same_name(field.name, kClientKey)) client_key.take(field.value);
          break;
        case kContentEncoding.size():
          if (same_name(field.name, kContentEncoding)) is_encoded |= says_encoded(field.value);
          break;
        default:
          break;
      }
    }
  }

  static constexpr std::string_view kContentType = "Content-Type";
  static constexpr std::string_view kClientKey = "Idempotency-Key";
  static constexpr std::string_view kContentEncoding = "Content-Encoding";

  struct Line {
    std::string_view value;  ///< Of the last one.
    std::size_t count = 0;
    void take(std::string_view of_line) {
      value = of_line;
      ++count;
    }
  };
  Line content_type;
  Line client_key;
  bool is_encoded = false;

 private:
  static bool says_encoded(std::string_view value) {
    const std::string_view coding = trimmed(value);
    return !coding.empty() && !same_name(coding, "identity");
  }
};

class Gathering {
 public:
  Gathering(const KeyInputs& inputs, ValueTape& tape, KeyParts& parts)
      : inputs_(inputs),
        recipe_(inputs.match->route->key),
        known_(inputs.headers),
        tape_(tape),
        parts_(parts),
        request_{inputs, parts.body, tape} {}

  Refused run() {
    if (Refused refused = check_repeats()) return refused;
    if (Refused refused = read_client_key_line()) return refused;
    if (Refused refused = read_the_body()) return refused;
    if (Refused refused = read_identity()) return refused;
    if (Refused refused = read_all(recipe_.fields, SourceRole::Field, parts_.fields)) {
      return refused;
    }
    if (Refused refused = read_all(recipe_.guards, SourceRole::Guard, parts_.guards)) {
      return refused;
    }
    if (recipe_.fields.empty() && parts_.kind == KeySource::Derived) read_conditions();
    return read_query();
  }

 private:
  [[nodiscard]] static Refused check_repeat(std::string_view name, std::size_t lines) {
    if (lines <= 1) return std::nullopt;
    return KeyRefusal{ProblemType::BadRequest,
                      "The header " + std::string(name) + " came more than once."};
  }

  [[nodiscard]] Refused check_repeats() const {
    if (Refused refused = check_repeat(KnownLines::kClientKey, known_.client_key.count)) {
      return refused;
    }
    if (Refused refused = check_repeat(KnownLines::kContentType, known_.content_type.count)) {
      return refused;
    }
    for (const auto* source : {&recipe_.tenant, &recipe_.run, &recipe_.caller}) {
      if (!source->has_value() || (*source)->from != ValueSource::From::Header) continue;
      const std::string& name = (*source)->text;
      const auto lines =
          std::count_if(inputs_.headers.begin(), inputs_.headers.end(),
                        [&name](const HeaderField& field) { return is_named(field, name); });
      if (Refused refused = check_repeat(name, static_cast<std::size_t>(lines))) return refused;
    }
    return std::nullopt;
  }

  Refused read_client_key_line() {
    const bool honoured = recipe_.client_key != ClientKey::Ignore;
    if (known_.client_key.count == 0) {
      if (recipe_.client_key != ClientKey::Required) return std::nullopt;
      return KeyRefusal{ProblemType::KeyMissing,
                        "This call needs an Idempotency-Key header: send a new key for each new "
                        "effect, and the same key for each retry."};
    }
    std::optional<std::string> key = read_client_key(trimmed(known_.client_key.value));
    if (!key && honoured) {
      return KeyRefusal{ProblemType::KeyMalformed,
                        "The Idempotency-Key must be one string of 1 to 255 visible ASCII "
                        "characters, bare or in double quotes, without parameters."};
    }
    parts_.client_key = std::move(key).value_or("");
    if (honoured) parts_.kind = KeySource::Client;
    return std::nullopt;
  }

  Refused read_the_body() {
    BodyDemand demand;
    demand.client_key = parts_.kind == KeySource::Client;
    demand.whole_counts = recipe_.fields.empty();
    demand.pointer_named = names_body();
    const ReceivedBody received{inputs_.body, known_.content_type.value, known_.is_encoded};
    return read_body(received, demand, tape_, parts_.body);
  }

  /// True where a source that counts today points into the body: `run` does not under a client's
  /// key.
  [[nodiscard]] bool names_body() const {
    const auto points = [](const ValueSource& source) {
      return source.from == ValueSource::From::Body;
    };
    const auto maybe = [&points](const std::optional<ValueSource>& source) {
      return source.has_value() && points(*source);
    };
    return maybe(recipe_.tenant) || maybe(recipe_.caller) ||
           (parts_.kind == KeySource::Derived && maybe(recipe_.run)) ||
           std::any_of(recipe_.fields.begin(), recipe_.fields.end(), points) ||
           std::any_of(recipe_.guards.begin(), recipe_.guards.end(), points);
  }

  Refused read_one(const std::optional<ValueSource>& source, SourceRole role, SourceValue& value) {
    if (!source.has_value()) return std::nullopt;
    return read_source(request_, *source, role, value);
  }

  Refused read_identity() {
    if (!recipe_.tenant.has_value()) {
      return KeyRefusal{ProblemType::KeyUnderivable, "The route names no tenant."};
    }
    if (Refused refused = read_one(recipe_.tenant, SourceRole::Tenant, parts_.tenant)) {
      return refused;
    }
    std::optional<std::string> tenant = plain_text(parts_.tenant, tape_);
    if (!tenant) {
      return KeyRefusal{ProblemType::KeyUnderivable, "The tenant, read from " +
                                                         spoken_name(*recipe_.tenant) +
                                                         ", must be a text or a number."};
    }
    parts_.tenant_text = std::move(*tenant);
    if (parts_.kind == KeySource::Derived) {
      if (Refused refused = read_one(recipe_.run, SourceRole::Run, parts_.run)) return refused;
    }
    return read_one(recipe_.caller, SourceRole::Caller, parts_.caller);
  }

  Refused read_all(const std::vector<ValueSource>& sources, SourceRole role,
                   std::vector<NamedValue>& values) {
    values.resize(sources.size());  // Their names' memory is used again.
    for (std::size_t i = 0; i < sources.size(); ++i) {
      NamedValue& named = values[i];
      named.source = &sources[i];
      if (Refused refused = read_source(request_, sources[i], role, named.value)) return refused;
      assign_encoded_name(sources[i], named.name);
    }
    std::sort(values.begin(), values.end(),
              [](const NamedValue& a, const NamedValue& b) { return a.name < b.name; });
    return std::nullopt;
  }

  void read_conditions() {
    for (const HeaderField& field : inputs_.headers) {
      const bool counts = is_named(field, "Range") || same_name(field.name.substr(0, 3), "If-");
      if (counts) parts_.conditions[lower_case(field.name)].push_back(field.value);
    }
  }

  Refused read_query() {
    const bool counts = recipe_.fields.empty() || parts_.kind == KeySource::Client;
    if (!counts || !inputs_.query.has_value()) return std::nullopt;
    if (append_normal_query(*inputs_.query, parts_.query.emplace())) return std::nullopt;
    return KeyRefusal{ProblemType::BadRequest, "The query has a broken escape."};
  }

  const KeyInputs& inputs_;
  const KeyRecipe& recipe_;
  const KnownLines known_;
  ValueTape& tape_;
  KeyParts& parts_;
  RequestView request_;
};

}  // namespace

void KeyParts::restart() {
  kind = KeySource::Derived;
  tenant = run = caller = AbsentValue{};
  tenant_text.clear();
  for (auto* named : {&fields, &guards}) {
    for (NamedValue& each : *named) each.value = AbsentValue{};
  }
  body.shape = BodyShape::Absent;
  body.pieces.clear();
  query.reset();
  conditions.clear();
  client_key.clear();
}

Refused gather(const KeyInputs& inputs, ValueTape& tape, KeyParts& parts) {
  parts.restart();
  return Gathering(inputs, tape, parts).run();
}

}  // namespace semel
