#include "proxy/resolve_order.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>

#include "core/ascii.h"
#include "core/base64.h"
#include "core/header_rules.h"
#include "core/json_reader.h"
#include "core/json_view.h"

namespace semel::proxy {
namespace {

/// Goes on after the first thing that is wrong, and remembers that one only.
class OrderReader {
 public:
  ResolveOrder read(const JsonView& body) {
    ResolveOrder order;
    expect_members(body, "The body", {"decision", "note", "operator", "response"});
    order.resolution.decision = read_decision(body);
    order.note = read_logged(body, "note", kNoteBytesMax);
    order.operator_name = read_logged(body, "operator", kOperatorBytesMax);
    if (const auto response = body.member("response")) {
      if (order.resolution.decision == Resolution::Decision::DidNotHappen) {
        fail("What did not happen has no \"response\".");
      }
      order.resolution.response = read_response(*response);
    }
    return order;
  }
  /// Empty: the order may be carried out.
  [[nodiscard]] std::string take_wrong() { return std::move(wrong_); }

 private:
  void fail(std::string sentence) {
    if (wrong_.empty()) wrong_ = std::move(sentence);
  }

  void expect_members(const JsonView& object, std::string_view what,
                      std::initializer_list<std::string_view> known) {
    if (object.kind() != ValueKind::Object) fail(std::string(what) + " must be a JSON object.");
    for (const auto& [member, value] : object.members()) {
      if (std::find(known.begin(), known.end(), member) == known.end()) {
        fail(std::string(what) + " has a member that is not known: \"" + member + "\".");
      }
    }
  }

  std::string read_text(const JsonView& value, std::string_view member) {
    if (value.kind() != ValueKind::Text) fail("\"" + std::string(member) + "\" must be a string.");
    return value.text();
  }

  std::string read_logged(const JsonView& order, std::string_view member, std::size_t bytes_max) {
    const auto value = order.member(member);
    if (!value) return {};
    std::string text = read_text(*value, member);
    if (const auto why = unfit_for_the_log(text, bytes_max); !why.empty()) {
      fail("\"" + std::string(member) + "\" " + std::string(why) + ".");
    }
    return text;
  }

  Resolution::Decision read_decision(const JsonView& order) {
    using Decision = Resolution::Decision;
    const auto value = order.member("decision");
    const std::string word = value && value->kind() == ValueKind::Text ? value->text() : "";
    for (const Decision decision : {Decision::Happened, Decision::DidNotHappen}) {
      if (word == name(decision)) return decision;
    }
    fail("\"decision\" must be \"happened\" or \"did_not_happen\".");
    return Decision::Happened;
  }

  StoredResponsePtr read_response(const JsonView& response) {
    expect_members(response, "\"response\"", {"status", "headers", "body", "body_base64"});
    StoredResponse stored;
    stored.status = read_status(response);
    stored.fields = read_fields(response);
    stored.body = read_body(response);
    if ((stored.status == 204 || stored.status == 304) && !stored.body.empty()) {
      fail("An answer with status " + std::to_string(stored.status) + " has no body.");
    }
    return std::make_shared<const StoredResponse>(std::move(stored));
  }

  std::uint16_t read_status(const JsonView& response) {
    const auto value = response.member("status");
    const std::string digits = value && value->kind() == ValueKind::Number ? value->text() : "";
    const auto status = parse_status(digits);
    if (!status) fail("\"status\" must be a number from 200 to 599: that of a final answer.");
    return status.value_or(200);
  }

  static std::optional<std::uint16_t> parse_status(std::string_view digits) {
    std::uint16_t status = 0;
    const char* const last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, status);
    if (error != std::errc() || end != last || status < 200 || status > 599) return std::nullopt;
    return status;
  }

  FieldLines read_fields(const JsonView& response) {
    FieldLines fields;
    const auto lines = response.member("headers");
    if (!lines) return fields;
    if (lines->kind() != ValueKind::Array) fail(kHeadersShape);
    for (const JsonView& line : lines->items()) {
      const std::vector<JsonView> pair = line.items();
      if (pair.size() != 2) {
        fail(kHeadersShape);
        break;
      }
      read_field(read_text(pair[0], "headers"), read_text(pair[1], "headers"), fields);
    }
    return fields;
  }

  void read_field(const std::string& field, const std::string& value, FieldLines& fields) {
    if (!is_token(field)) {
      fail("\"" + field + "\" in \"headers\" is no name of a header.");
    } else if (!is_field_value(value)) {
      fail("The header " + field + " has control characters.");
    } else if (is_stored(field)) {
      fields.push_back({field, trimmed(value)});
    }
  }

  std::string read_body(const JsonView& response) {
    const auto plain = response.member("body");
    const auto coded = response.member("body_base64");
    if (plain && coded) fail("Give \"body\" or \"body_base64\", not both.");
    if (plain) return read_text(*plain, "body");
    if (!coded) return {};
    auto bytes = decode_base64(read_text(*coded, "body_base64"));
    if (!bytes) fail("\"body_base64\" is not base64 with its padding (RFC 4648, section 4).");
    return std::move(bytes).value_or("");
  }

  static constexpr const char* kHeadersShape =
      "\"headers\" must be an array of [\"name\", \"value\"].";
  std::string wrong_;
};

}  // namespace

std::string_view name(Resolution::Decision decision) {
  return decision == Resolution::Decision::Happened ? "happened" : "did_not_happen";
}

std::string_view unfit_for_the_log(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max) return "is too long for the log";
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; })
             ? ""
             : "has control characters";
}

std::variant<ResolveOrder, std::string> read_resolve_order(std::string_view json) {
  ValueTape tape;
  if (const auto fault = read_json(json, tape)) {
    return "The body has " + std::string(fault->what) + " at byte " +
           std::to_string(fault->offset) + ".";
  }
  OrderReader reader;
  ResolveOrder order = reader.read(JsonView(tape));
  if (std::string wrong = reader.take_wrong(); !wrong.empty()) return wrong;
  return order;
}

}  // namespace semel::proxy
