// `semel explain`: one request goes the way that the proxy would take it (byte gate, path, route,
// key) and stops before the claim. It shows arguments: its output is for the one who asked.
#include "proxy/cli_explain.h"

#include <iomanip>
#include <ostream>

#include "config/load.h"
#include "core/json_text.h"
#include "core/key.h"
#include "proxy/byte_gate.h"
#include "proxy/curl_request.h"

namespace semel::proxy {
namespace {

constexpr int kKeyed = 0;
constexpr int kWrong = 2;
constexpr int kRefused = 3;

/// What became of the request, on the way to its key.
struct Explanation {
  const Route* route = nullptr;  ///< Absent where none matched.
  std::optional<KeyExplanation> key;
  std::optional<KeyRefusal> refusal;
};

KeyRefusal refuse(ProblemType type, std::string detail) {
  if (detail.empty()) detail = row(type).detail;
  return {type, std::move(detail)};
}

KeyRefusal refusal_of(const RouteAnswer& answer) {
  if (const auto* method = std::get_if<MethodNotAllowed>(&answer)) {
    return refuse(ProblemType::Method, "This path takes " + method->allow + " only.");
  }
  if (const auto* ambiguous = std::get_if<PathAmbiguous>(&answer)) {
    return refuse(ProblemType::PathAmbiguous,
                  "The path is almost that of the keyed route " + ambiguous->keyed_route + ".");
  }
  return refuse(ProblemType::NoRoute, "");
}

Explanation explain(const RouteTable& table, const std::vector<std::string>& authorities,
                    const CurlRequest& request) {
  Explanation explanation;
  const auto refused = [&](KeyRefusal refusal) {
    explanation.refusal = std::move(refusal);
    return explanation;
  };
  const std::string head_text = request.head();
  RequestHead head;
  const GateAnswer gate =
      read_request_head(head_text, 0, {authorities, table.headers_read()}, head);
  if (const auto* refusal = std::get_if<GateRefusal>(&gate)) {
    return refused(refuse(refusal->type, std::string(refusal->reason)));
  }
  if (std::holds_alternative<NeedMore>(gate)) {
    return refused(refuse(ProblemType::BadRequest, "The head is incomplete."));
  }
  const auto normal = normalise_path(head.path, table.any_loose());
  if (const auto* refusal = std::get_if<PathRefusal>(&normal)) {
    return refused(refuse(ProblemType::BadRequest, std::string(refusal->reason)));
  }
  const NormalPath& path = std::get<NormalPath>(normal);
  const RouteAnswer answer = table.match(head.method, path);
  const auto* match = std::get_if<RouteMatch>(&answer);
  if (match == nullptr) return refused(refusal_of(answer));
  explanation.route = match->route;
  if (!match->route->is_guarded() || head.method == "OPTIONS") return explanation;
  const std::string body = request.body.value_or("");
  if (body.size() > match->route->request_body_bytes_max) {
    return refused(refuse(ProblemType::BodyTooLarge, ""));
  }
  const KeyInputs inputs{head.method, &path, match, head.query, head.fields.all(), body, {}};
  auto key = explain_key(inputs);
  if (auto* refusal = std::get_if<KeyRefusal>(&key)) return refused(std::move(*refusal));
  explanation.key = std::get<KeyExplanation>(std::move(key));
  return explanation;
}

/// One JSON object, member by member.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view text) {
    begin(name);
    append_json_string(text_, text);
    return *this;
  }
  /// @param json  Is JSON already.
  JsonObject& add_json(std::string_view name, std::string_view json) {
    begin(name);
    text_ += json;
    return *this;
  }
  [[nodiscard]] std::string text() const { return text_ + "}"; }

 private:
  void begin(std::string_view name) {
    if (text_.size() > 1) text_ += ", ";
    append_json_string(text_, name);
    text_ += ": ";
  }
  std::string text_ = "{";
};

std::string json_of(const KeyRefusal& refusal) {
  return JsonObject()
      .add_json("status", std::to_string(row(refusal.type).status))
      .add("type", row(refusal.type).slug)
      .add("detail", refusal.detail)
      .text();
}

std::string json_of(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) {
    if (json.size() > 1) json += ", ";
    append_json_string(json, text);
  }
  return json + "]";
}

void print_json(std::ostream& out, const Explanation& explanation, const CurlRequest& request) {
  JsonObject object;
  if (explanation.route) {
    object.add("route", explanation.route->name).add("policy", name(explanation.route->policy));
  }
  if (explanation.refusal) {
    object.add("method", request.method).add_json("refusal", json_of(*explanation.refusal));
  } else if (!explanation.key) {
    object.add("method", request.method).add_json("key", "null");
  } else {
    const KeyExplanation& key = *explanation.key;
    object.add("kind", key.kind).add("tenant", key.tenant);
    if (key.run) {
      object.add("run", *key.run);
    } else {
      object.add_json("run", "null");
    }
    JsonObject arguments;
    for (const auto& [source, value] : key.arguments) arguments.add(source, value);
    JsonObject bindings;
    for (const auto& [what, digest] : key.bindings) bindings.add(what, digest);
    object.add("operation", key.operation)
        .add("method", key.method)
        .add_json("path", json_of(key.path))
        .add_json("arguments", arguments.text())
        .add_json("bindings", bindings.text())
        .add("canonical", key.canonical_hex)
        .add("key", to_hex(key.derived.key));
  }
  out << object.text() << '\n';
}

void print_line(std::ostream& out, std::string_view what, std::string_view text) {
  out << std::left << std::setw(12) << what << text << '\n';
}

std::string joined(const std::vector<std::string>& segments) {
  std::string text;
  for (const std::string& segment : segments) text += "/" + segment;
  return text;
}

void print_key(std::ostream& out, const Route& route, const KeyExplanation& key) {
  print_line(out, "tenant", key.tenant);
  print_line(out, "run", key.run ? *key.run : "none");
  print_line(out, "operation", key.operation);
  print_line(out, "method", key.method);
  print_line(out, "path", route.key.path == PathInKey::Route ? route.pattern : joined(key.path));
  out << "arguments\n";
  for (const auto& [source, value] : key.arguments) out << "  " << source << " = " << value << '\n';
  if (!key.bindings.empty()) out << "bound to\n";
  for (const auto& [what, digest] : key.bindings) out << "  " << what << " = " << digest << '\n';
  print_line(out, "canonical", key.canonical_hex);
  print_line(out, "key", to_hex(key.derived.key) + " (" + key.kind + ")");
}

void print_text(std::ostream& out, const Explanation& explanation) {
  if (const Route* route = explanation.route) {
    print_line(out, "route",
               route->name + " (" + route->file + ":" + std::to_string(route->line) + ")");
    print_line(out, "policy", name(route->policy));
  }
  if (explanation.refusal) {
    const ProblemRow& problem = row(explanation.refusal->type);
    print_line(out, "refusal",
               std::to_string(problem.status) + " " + std::string(problem.slug) + ": " +
                   explanation.refusal->detail);
  } else if (explanation.key) {
    print_key(out, *explanation.route, *explanation.key);
  } else {
    out << "no key: nothing is claimed\n";
  }
}

}  // namespace

int run_explain(std::span<const std::string> args, std::ostream& out, std::ostream& err) {
  auto parsed = parse_explain_options(args);
  if (const auto* sentence = std::get_if<std::string>(&parsed)) {
    err << "semel explain: " << *sentence
        << "\nusage: semel explain CONFIG [--json] [-X METHOD] [-H 'Name: value']... [-d BODY] "
           "URL\n";
    return kWrong;
  }
  const auto& options = std::get<ExplainOptions>(parsed);
  try {
    config::Config config = config::load_file(options.config, config::process_environment());
    const RouteTable table(std::move(config.routes));
    const Explanation explanation = explain(table, config.listen.authorities, options.request);
    if (options.request.is_json_guessed) {
      err << "note: no Content-Type given; explained as application/json (curl's -d would send "
             "application/x-www-form-urlencoded)\n";
    }
    if (options.json) {
      print_json(out, explanation, options.request);
    } else {
      print_text(out, explanation);
    }
    return explanation.refusal ? kRefused : kKeyed;
  } catch (const config::ConfigError& error) {
    err << error.what() << '\n';
    return kWrong;
  }
}

}  // namespace semel::proxy
