#include "core/form.h"

#include <algorithm>
#include <cstdint>

#include "core/unicode.h"

namespace semel {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// The byte that the escape at the front of `text` stands for; nothing where it is broken.
std::optional<char> escaped_byte(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const int high = hex_digit(text[1]);
  const int low = hex_digit(text[2]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<char>(high * 16 + low);
}

/// @param plus  What `+` stands for.
bool append_decoded(std::string_view text, char plus, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const std::optional<char> byte = escaped_byte(text.substr(i));
      if (!byte) return false;
      out.push_back(*byte);
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? plus : text[i]);
    }
  }
  return true;
}

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

/// One `name=value` as written, and where.
struct Pair {
  std::string_view name;
  std::string_view value;
  std::size_t offset;
};

/// Calls `visit(pair)` for each pair until it answers false; empty pieces between `&` are none.
template <class Visit>
void each_pair(std::string_view form, Visit visit) {
  std::size_t at = 0;
  while (at < form.size()) {
    const std::string_view piece = form.substr(at, form.find('&', at) - at);
    if (!piece.empty()) {
      const std::size_t equals = std::min(piece.find('='), piece.size());
      const std::string_view value = piece.substr(std::min(equals + 1, piece.size()));
      if (!visit(Pair{piece.substr(0, equals), value, at})) return;
    }
    at += piece.size() + 1;
  }
}

struct FormField {
  std::string name;     ///< Decoded, in NFC.
  std::string value;    ///< The same.
  std::string spelled;  ///< The name decoded, before NFC.
  std::size_t offset;
};

/// Decodes one piece to NFC. @return What is wrong with it; empty where nothing is.
std::string_view decode(std::string_view piece, std::string& decoded, std::string& normal) {
  if (!append_form_decoded(piece, decoded)) return "a broken escape";
  if (!is_utf8(decoded)) return "invalid UTF-8";
  append_nfc(decoded, normal);
  return {};
}

std::optional<TextFault> read_fields(std::string_view body, std::vector<FormField>& fields) {
  std::optional<TextFault> fault;
  each_pair(body, [&](const Pair& pair) {
    FormField& field = fields.emplace_back();
    field.offset = pair.offset;
    std::string_view wrong = decode(pair.name, field.spelled, field.name);
    if (wrong.empty()) {
      std::string decoded;
      wrong = decode(pair.value, decoded, field.value);
    }
    if (!wrong.empty()) fault = TextFault{wrong, pair.offset};
    return wrong.empty();
  });
  return fault;
}

}  // namespace

bool append_form_decoded(std::string_view text, std::string& out) {
  return append_decoded(text, ' ', out);
}

bool append_percent_decoded(std::string_view text, std::string& out) {
  return append_decoded(text, '+', out);
}

std::optional<TextFault> read_form(std::string_view body, ValueTape& tape) {
  tape.restart(body);
  std::vector<FormField> fields;
  if (std::optional<TextFault> fault = read_fields(body, fields)) return fault;
  std::sort(fields.begin(), fields.end(), [](const FormField& a, const FormField& b) {
    const int order = a.name.compare(b.name);
    return order != 0 ? order < 0 : a.offset < b.offset;
  });

  const NodeIndex object = tape.open(ValueKind::Object, 0);
  std::size_t members = 0;
  for (auto first = fields.begin(); first != fields.end(); ++members) {
    const auto last = std::find_if(first, fields.end(), [&first](const FormField& field) {
      return field.name != first->name;
    });
    tape.add_normal(first->name);
    const bool repeated = last - first > 1;
    const NodeIndex array = repeated ? tape.open(ValueKind::Array, first->offset) : 0;
    const auto count = static_cast<std::size_t>(last - first);
    const std::string& spelled = first->spelled;
    for (auto field = first; field != last; ++field) {
      if (field->spelled != spelled) return TextFault{"one name in two spellings", field->offset};
      tape.add_normal(field->value);
    }
    if (repeated) tape.close(array, count);
    first = last;
  }
  tape.close(object, members);
  return std::nullopt;
}

std::optional<std::vector<std::string>> query_values(std::string_view query,
                                                     std::string_view name) {
  std::vector<std::string> values;
  bool whole = true;
  each_pair(query, [&](const Pair& pair) {
    std::string decoded;
    whole = append_form_decoded(pair.name, decoded);
    if (whole && decoded == name) whole = append_form_decoded(pair.value, values.emplace_back());
    return whole;
  });
  if (!whole) return std::nullopt;
  return values;
}

bool append_normal_query(std::string_view query, std::string& out) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (query[i] != '%') {
      out.push_back(query[i]);
      continue;
    }
    const std::optional<char> byte = escaped_byte(query.substr(i));
    if (!byte) return false;
    i += 2;
    if (is_unreserved(*byte)) {
      out.push_back(*byte);
    } else {
      const auto value = static_cast<std::uint8_t>(*byte);
      out.push_back('%');
      out.push_back(kDigits[value >> 4]);
      out.push_back(kDigits[value & 15]);
    }
  }
  return true;
}

}  // namespace semel
