// Compares what a store remembers of the routes with what the operator says now. Pure; called at
// the start and at a reload. In doubt it asks.

#include "core/route_change.h"

#include <algorithm>

#include "core/duration_text.h"
#include "core/key_versions.h"
#include "core/route_pattern.h"
#include "core/route_table.h"
#include "core/source_value.h"

namespace semel {
namespace {

std::string_view word(Mode mode) {
  return mode == Mode::Enforce ? "enforce" : mode == Mode::Shadow ? "shadow" : "off";
}

std::string_view word(ClientKey mode) {
  return mode == ClientKey::Ignore     ? "ignore"
         : mode == ClientKey::Optional ? "optional"
                                       : "required";
}

std::string spoken(const std::optional<ValueSource>& source) {
  return source ? spoken_name(*source) : "none";
}

std::string spoken(const std::vector<ValueSource>& sources) {
  std::string text;
  for (const ValueSource& source : sources) {
    text.append(text.empty() ? "" : ", ").append(spoken_name(source));
  }
  return text.empty() ? "the whole request" : text;
}

std::string spoken(const std::optional<int>& version) {
  return version ? std::to_string(*version) : "none";
}

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

/// A source by what it adds to the key. A {param} is told by its place too: with another pattern
/// the same name may stand for another segment.
std::string meaning(const ValueSource& source, const Route& route) {
  std::string text = encoded_name(source);
  if (source.from != ValueSource::From::PathParam) return text;
  const PatternSegment segment{PatternSegment::Kind::Param, source.text};
  const auto at = std::ranges::find(route.segments, segment);
  return text + "@" + std::to_string(at - route.segments.begin());
}

std::string meaning(const std::optional<ValueSource>& source, const Route& route) {
  return source ? meaning(*source, route) : "";
}

std::vector<std::string> meaning(const std::vector<ValueSource>& sources, const Route& route) {
  std::vector<std::string> texts;
  for (const ValueSource& source : sources) texts.push_back(meaning(source, route));
  std::ranges::sort(texts);
  return texts;
}

/// One formerly promised route against the table of today.
class Comparison {
 public:
  Comparison(const std::vector<Route>& earlier, std::size_t index, const std::vector<Route>& now,
             std::vector<RouteChange>& changes)
      : earlier_(earlier), index_(index), was_(earlier[index]), now_(now), changes_(changes) {}

  void run() {
    const auto at = std::ranges::find(now_, was_.name, &Route::name);
    if (at == now_.end()) return compare_gone();
    is_ = &*at;
    if (!is_keyed(is_->policy)) return compare_unkeyed();
    if (is_->mode != Mode::Enforce) return compare_unenforced();
    compare_policy();
    compare_key();
    compare_requests();
    for (const Route* other = now_.data(); other != is_; ++other) compare_taken_by(*other);
    compare_windows();
  }

 private:
  void add(const std::string& what, const std::string& frees, const std::string& restore) {
    const Route& shown = is_ != nullptr ? *is_ : now_.front();
    RouteChange change;
    change.route = was_.name;
    change.place = is_ != nullptr ? shown.file + ":" + std::to_string(shown.line) : shown.file;
    change.sentence = "route " + was_.name + ": " + what + ": " + frees +
                      "; acknowledge it (serve --acknowledge " + was_.name +
                      ", or POST /-/reload?acknowledge=" + was_.name +
                      ") once its last calls are older than one retention (" +
                      to_text(was_.retention) + "), or restore " + restore;
    changes_.push_back(std::move(change));
  }

  /// For a change of the key: `what` was one thing and is another.
  void add_new_key(const std::string& what, const std::string& was, const std::string& is,
                   const std::string& restore) {
    add(what + " was " + was + " and is " + is,
        "the key of a call is another one, and a repeat of an earlier call runs again", restore);
  }

  void compare_gone() {
    const auto heir = std::ranges::find_if(now_, [this](const Route& route) {
      return pattern_meet(route.segments, was_.segments) && takes_some(route);
    });
    const std::string what =
        heir == now_.end() ? "is gone" : "is gone, and route " + heir->name + " takes its requests";
    add(what, "its calls are no longer known under that name, and a repeat of one is a new call",
        "the route with its name");
  }

  void compare_unkeyed() {
    const std::string word =
        is_->policy == Policy::None ? "none" : std::string(semel::name(is_->policy));
    add("the policy was " + std::string(semel::name(was_.policy)) + " and is " + word,
        "its calls are no longer keyed, and a repeat of one runs again",
        "policy: " + std::string(semel::name(was_.policy)));
  }

  void compare_unenforced() {
    add("the mode was enforce and is " + std::string(word(is_->mode)),
        "a repeat of an earlier call is no longer held back and runs again", "mode: enforce");
  }

  void compare_policy() {
    if (is_->policy >= was_.policy) return;
    add("the policy was EFFECTFUL and is IDEMPOTENT",
        "a call whose outcome is unknown is retried and its key is freed, so that it may run again",
        "policy: EFFECTFUL");
  }

  void compare_key() {
    const KeyRecipe& was = was_.key;
    const KeyRecipe is = terms_of(*is_).key;  // Spelled as the old one is.
    if (is_raised(was_.key_version, is_->key_version)) return compare_raised();
    if (was_.key_version != is_->key_version) {
      add_new_key("key: version", spoken(was_.key_version), spoken(is_->key_version),
                  "the version");
    }
    if (meaning(was.tenant, was_) != meaning(is.tenant, *is_)) {
      add_new_key("key: tenant", spoken(was.tenant), spoken(is.tenant), "the tenant");
    }
    const bool honoured_alike =
        (was.client_key == ClientKey::Ignore) == (is.client_key == ClientKey::Ignore);
    if (!honoured_alike) {
      add("client_key was " + std::string(word(was.client_key)) + " and is " +
              std::string(word(is.client_key)),
          "a call that sends an Idempotency-Key has another key, and a repeat of an earlier one "
          "runs again",
          "client_key: " + std::string(word(was.client_key)));
    }
    // While a client's key is required nothing is derived.
    if (is.client_key == ClientKey::Required) return;
    if (was.client_key == ClientKey::Required) {
      if (!honoured_alike) return;
      add("client_key was required and is " + std::string(word(is.client_key)),
          "what was derived before it was required is compared with nothing any more, and a repeat "
          "of a call of then, without an Idempotency-Key, may run again",
          "client_key: required");
      return;
    }
    compare_derived(was, is);
  }

  /// The keys of the version before are looked up, whatever the recipe is now.
  void compare_raised() {
    if (was_.earlier.size() < kEarlierVersionsMax) return;
    add("key: version was " + spoken(was_.key_version) + " and is " + spoken(is_->key_version),
        "the keys of version " + spoken(was_.earlier.back()->key_version) +
            " are no longer looked up, and a repeat of a call of then runs again",
        "the version");
  }

  void compare_derived(const KeyRecipe& was, const KeyRecipe& is) {
    if (meaning(was.run, was_) != meaning(is.run, *is_)) {
      add_new_key("key: run", spoken(was.run), spoken(is.run), "the run");
    }
    if (meaning(was.fields, was_) != meaning(is.fields, *is_)) {
      add_new_key("key: fields", spoken(was.fields), spoken(is.fields), "the fields");
    }
    if (was.path != is.path) {
      const bool was_concrete = was.path == PathInKey::Concrete;
      add_new_key("key: path", was_concrete ? "concrete" : "route",
                  was_concrete ? "route" : "concrete",
                  was_concrete ? "path: concrete" : "path: route");
    } else if (was.path == PathInKey::Route && was_.pattern != is_->pattern) {
      add_new_key("the pattern, which is in the key (path: route),", was_.pattern, is_->pattern,
                  "path: " + was_.pattern);
    }
  }

  void compare_requests() {
    if (!pattern_covers(is_->segments, was_.segments)) {
      add("the pattern was " + was_.pattern + " and is " + is_->pattern,
          "requests that it no longer takes are not keyed by it, and a repeat of one could run "
          "again",
          "path: " + was_.pattern);
    }
    std::vector<std::string> lost;
    std::ranges::copy_if(was_.methods, std::back_inserter(lost),
                         [this](const std::string& method) { return !accepts(*is_, method); });
    if (lost.empty()) return;
    add("it no longer takes " + list(lost),
        "such requests are not keyed by it, and a repeat of one could run again",
        "methods: [" + list(was_.methods) + "]");
  }

  [[nodiscard]] bool takes_some(const Route& other) const {
    return std::ranges::any_of(
        was_.methods, [&other](const std::string& method) { return accepts(other, method); });
  }

  /// True if what both `other` and the old route match went to an earlier route before, too.
  [[nodiscard]] bool was_taken_before(const Route& other,
                                      const std::vector<PatternSegment>& common) const {
    return std::ranges::all_of(was_.methods, [&](const std::string& method) {
      if (!accepts(other, method)) return true;
      return std::any_of(earlier_.begin(), earlier_.begin() + static_cast<std::ptrdiff_t>(index_),
                         [&](const Route& first) {
                           return accepts(first, method) && pattern_covers(first.segments, common);
                         });
    });
  }

  void compare_taken_by(const Route& other) {
    const auto common = pattern_meet(other.segments, was_.segments);
    if (!common || !takes_some(other) || was_taken_before(other, *common)) return;
    add("route " + other.name + ", which stands before it, now takes " + list_of_taken(other) +
            " of " + other.pattern,
        "such requests are not keyed by it any more, and a repeat of one runs again",
        "the order, or narrow route " + other.name);
  }

  [[nodiscard]] std::string list_of_taken(const Route& other) const {
    std::vector<std::string> taken;
    std::ranges::copy_if(was_.methods, std::back_inserter(taken),
                         [&other](const std::string& method) { return accepts(other, method); });
    return list(taken);
  }

  void compare_windows() {
    if (is_->retention < was_.retention) {
      add("the retention was " + to_text(was_.retention) + " and is " + to_text(is_->retention),
          "a repeat that comes later than that runs again",
          "retention: " + to_text(was_.retention));
    }
    // Only an EFFECTFUL call stays unknown.
    if (was_.policy != Policy::Effectful || is_->policy != Policy::Effectful) return;
    const auto& was = was_.indeterminate_retention;
    const auto& is = is_->indeterminate_retention;
    if (!is || (was && *is >= *was)) return;
    const std::string before = was ? to_text(*was) : "never";
    add("indeterminate_retention was " + before + " and is " + to_text(*is),
        "a repeat of a call whose outcome is unknown runs again after that",
        "indeterminate_retention: " + before);
  }

  const std::vector<Route>& earlier_;
  std::size_t index_;
  const Route& was_;
  const std::vector<Route>& now_;
  std::vector<RouteChange>& changes_;
  const Route* is_ = nullptr;
};

}  // namespace

std::vector<RouteChange> weakened(const std::vector<RouteTerms>& before,
                                  const std::vector<Route>& after) {
  std::vector<Route> earlier;
  for (const RouteTerms& terms : before) earlier.push_back(sketch_of(terms));
  attach_earlier(before, earlier);
  std::vector<RouteChange> changes;
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    if (earlier[i].is_enforced()) Comparison(earlier, i, after, changes).run();
  }
  return changes;
}

std::vector<std::string> objections(const std::vector<RouteChange>& changes,
                                    const std::vector<std::string>& acknowledged) {
  std::vector<std::string> lines;
  for (const RouteChange& change : changes) {
    if (std::ranges::find(acknowledged, change.route) != acknowledged.end()) continue;
    lines.push_back(change.place + ": " + change.sentence);
  }
  for (const std::string& name : acknowledged) {
    if (std::ranges::find(changes, name, &RouteChange::route) != changes.end()) continue;
    lines.push_back("acknowledge " + name + ": no change of a route called " + name +
                    " frees keys; leave it out");
  }
  return lines;
}

}  // namespace semel
