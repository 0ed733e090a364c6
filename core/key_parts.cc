// Reads what a key is made of. It refuses rather than guesses: whatever is absent, repeated or
// readable in two ways ends here, before anything is hashed. Called by core/key and
// core/key_explain.

#include "core/key_parts.h"

#include <algorithm>

#include "core/ascii.h"
#include "core/client_key.h"
#include "core/form.h"
#include "core/header_rules.h"

namespace semel {
namespace {

using Refused = std::optional<KeyRefusal>;

class Gathering {
 public:
  Gathering(const KeyInputs& inputs, ValueTape& tape, KeyParts& parts)
      : inputs_(inputs),
        recipe_(inputs.match->route->key),
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
  [[nodiscard]] std::size_t lines(std::string_view name) const {
    return static_cast<std::size_t>(
        std::count_if(inputs_.headers.begin(), inputs_.headers.end(),
                      [name](const HeaderField& field) { return is_named(field, name); }));
  }

  [[nodiscard]] Refused check_repeat(std::string_view name) const {
    if (lines(name) <= 1) return std::nullopt;
    return KeyRefusal{ProblemType::BadRequest,
                      "The header " + std::string(name) + " came more than once."};
  }

  [[nodiscard]] Refused check_repeats() const {
    if (Refused refused = check_repeat("Idempotency-Key")) return refused;
    if (Refused refused = check_repeat("Content-Type")) return refused;
    for (const auto* source : {&recipe_.tenant, &recipe_.run, &recipe_.caller}) {
      if (!source->has_value() || (*source)->from != ValueSource::From::Header) continue;
      if (Refused refused = check_repeat((*source)->text)) return refused;
    }
    return std::nullopt;
  }

  Refused read_client_key_line() {
    const auto line =
        std::find_if(inputs_.headers.begin(), inputs_.headers.end(),
                     [](const HeaderField& field) { return is_named(field, "Idempotency-Key"); });
    const bool honoured = recipe_.client_key != ClientKey::Ignore;
    if (line == inputs_.headers.end()) {
      if (recipe_.client_key != ClientKey::Required) return std::nullopt;
      return KeyRefusal{ProblemType::KeyMissing,
                        "This call needs an Idempotency-Key header: send a new key for each new "
                        "effect, and the same key for each retry."};
    }
    std::optional<std::string> key = read_client_key(trimmed(line->value));
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
    auto body = read_body(inputs_, demand, tape_);
    if (auto* refusal = std::get_if<KeyRefusal>(&body)) return std::move(*refusal);
    parts_.body = std::get<RequestBody>(std::move(body));
    return std::nullopt;
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
    auto answer = read_source(request_, *source, role);
    if (auto* refusal = std::get_if<KeyRefusal>(&answer)) return std::move(*refusal);
    value = std::get<SourceValue>(std::move(answer));
    return std::nullopt;
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
    values.reserve(sources.size());
    for (const ValueSource& source : sources) {
      auto answer = read_source(request_, source, role);
      if (auto* refusal = std::get_if<KeyRefusal>(&answer)) return std::move(*refusal);
      values.push_back({encoded_name(source), &source, std::get<SourceValue>(std::move(answer))});
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
  ValueTape& tape_;
  KeyParts& parts_;
  RequestView request_;
};

}  // namespace

std::variant<KeyParts, KeyRefusal> gather(const KeyInputs& inputs, ValueTape& tape) {
  std::variant<KeyParts, KeyRefusal> answer{std::in_place_type<KeyParts>};
  Refused refused = Gathering(inputs, tape, std::get<KeyParts>(answer)).run();
  if (refused) answer = std::move(*refused);
  return answer;
}

}  // namespace semel
