#include "tests/fuzz/document.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "tests/fuzz/json_reference.h"

namespace semel::fuzz {
namespace {

using Kind = Document::Kind;

/// Characters that compose, decompose, sort apart in UTF-16, need escapes, or fold.
constexpr std::array<std::string_view, 24> kCharacters{"a",          "b",
                                                       "A",          "\"",
                                                       "\\",         "/",
                                                       "\n",         "\x01",
                                                       "\x7f",       "\u00e9",
                                                       "e\u0301",    "\u212b",
                                                       "\u00c5",     "\u1e9b\u0323",
                                                       "\uac00",     "\u1100\u1161",
                                                       "\u0344",     "\ufb01",
                                                       "\uff5e",     "\U0001f600",
                                                       "\U0001d15e", "\u0345\u0301",
                                                       "\u2126",     "\U0010ffff"};

std::string some_text(Dice& dice) {
  std::string text;
  const std::size_t count = dice.roll(6);
  for (std::size_t i = 0; i < count; ++i) text += kCharacters[dice.roll(kCharacters.size())];
  return text;
}

std::string some_name(Dice& dice) {
  constexpr std::array<std::string_view, 6> kNames{"flight", "Flight", "meta", "0", "", "\u00e9"};
  return dice.happens(3) ? some_text(dice) : std::string(kNames[dice.roll(kNames.size())]);
}

void some_number(Document& document, Dice& dice) {
  document.kind = Kind::Number;
  document.negative = dice.happens(3);
  const std::size_t digits = dice.roll(20);
  for (std::size_t i = 0; i < digits; ++i) document.text += static_cast<char>('0' + dice.roll(10));
  if (dice.happens(16)) document.text.append(980 + dice.roll(40), '7');
  document.text.erase(0, std::min(document.text.find_first_not_of('0'), document.text.size()));
  document.exponent = static_cast<long>(dice.roll(41)) - 20;
  if (dice.happens(16)) document.exponent += dice.happens(2) ? 9'990 : -9'990;
}

void fill(Document& document, Dice& dice, int depth, int& budget) {
  --budget;
  const std::size_t kind = dice.roll(budget > 0 && depth < 70 ? 9 : 7);
  if (kind <= 2) document.kind = static_cast<Kind>(kind);
  if (kind == 3 || kind == 4) some_number(document, dice);
  if (kind == 5 || kind == 6) {
    document.kind = Kind::Text;
    document.text = some_text(dice);
  }
  if (kind < 7) return;
  document.kind = kind == 7 ? Kind::Array : Kind::Object;
  const std::size_t count = dice.roll(5);
  for (std::size_t i = 0; i < count && budget > 0; ++i) {
    if (kind == 8) document.names.push_back(some_name(dice));
    fill(document.items.emplace_back(), dice, depth + 1, budget);
  }
}

void add_space(std::string& out, Dice& dice) {
  constexpr std::array<std::string_view, 6> kSpaces{"", "", " ", "\n", "\t", "\r\n "};
  out += kSpaces[dice.roll(kSpaces.size())];
}

void add_unit(std::string& out, std::uint32_t unit, Dice& dice) {
  const std::string_view hex = dice.happens(2) ? "0123456789ABCDEF" : "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += hex[unit >> shift & 15U];
}

void add_code_point(std::string& out, std::uint32_t point, Dice& dice) {
  const bool must_escape = point < 0x20 || point == '"' || point == '\\';
  const std::size_t name = point < 0x80
                               ? std::string_view("\"\\/\b\f\n\r\t").find(static_cast<char>(point))
                               : std::string_view::npos;
  const std::size_t way = dice.roll(3);
  if (way == 0 && !must_escape) {
    append_utf8(point, out);
  } else if (way <= 1 && name != std::string_view::npos) {
    out += {'\\', std::string_view("\"\\/bfnrt")[name]};
  } else if (point >= 0x10000) {
    add_unit(out, 0xD800 + ((point - 0x10000) >> 10U), dice);
    add_unit(out, 0xDC00 + ((point - 0x10000) & 0x3FFU), dice);
  } else {
    add_unit(out, point, dice);
  }
}

void add_text(std::string& out, const std::string& text, Dice& dice) {
  const std::size_t form = dice.roll(3);
  const std::string chosen = form == 0 ? text : form == 1 ? nfd_of(text) : nfc_of(text).value();
  out += '"';
  for (const std::uint32_t point : code_points(chosen)) add_code_point(out, point, dice);
  out += '"';
}

/// Some digits behind the point, some zeros more at the end: the exponent makes up for both.
void add_number(std::string& out, const Document& number, Dice& dice) {
  std::string digits = number.text.empty() ? "0" : number.text;
  long exponent = number.exponent;
  const std::size_t zeros = dice.roll(4);
  digits.append(zeros, '0');
  exponent -= static_cast<long>(zeros);
  std::size_t behind = dice.roll(8);
  exponent += static_cast<long>(behind);
  if (digits.size() <= behind) digits.insert(0, behind - digits.size() + 1, '0');
  // JSON has no zero in front of another digit.
  const std::size_t before = digits.size() - behind;
  if (number.negative) out += '-';
  out.append(digits, 0, before);
  if (behind > 0) out.append(".").append(digits, before);
  if (exponent == 0 && dice.happens(2)) return;
  out += dice.happens(2) ? 'E' : 'e';
  if (exponent >= 0 && dice.happens(2)) out += '+';
  if (exponent < 0) out += '-';
  if (dice.happens(4)) out += '0';
  out += std::to_string(exponent < 0 ? -exponent : exponent);
}

/// A thrown order of the first `count` numbers.
std::vector<std::size_t> some_order(std::size_t count, Dice& dice) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[dice.roll(i)]);
  return order;
}

void spell(std::string& out, const Document& document, Dice& dice);

void spell_array(std::string& out, const Document& document, Dice& dice) {
  out += '[';
  for (std::size_t i = 0; i < document.items.size(); ++i) {
    if (i > 0) out += ',';
    spell(out, document.items[i], dice);
  }
  add_space(out, dice);
  out += ']';
}

void spell_object(std::string& out, const Document& document, Dice& dice) {
  out += '{';
  std::string_view comma;
  for (const std::size_t i : some_order(document.items.size(), dice)) {
    out += comma;
    comma = ",";
    add_space(out, dice);
    add_text(out, document.names[i], dice);
    add_space(out, dice);
    out += ':';
    spell(out, document.items[i], dice);
  }
  add_space(out, dice);
  out += '}';
}

void spell(std::string& out, const Document& document, Dice& dice) {
  constexpr std::array<std::string_view, 3> kWords{"null", "false", "true"};
  add_space(out, dice);
  switch (document.kind) {
    case Kind::Null:
    case Kind::False:
    case Kind::True:
      out += kWords[static_cast<std::size_t>(document.kind)];
      break;
    case Kind::Number:
      add_number(out, document, dice);
      break;
    case Kind::Text:
      add_text(out, document.text, dice);
      break;
    case Kind::Array:
      spell_array(out, document, dice);
      break;
    case Kind::Object:
      spell_object(out, document, dice);
      break;
  }
  add_space(out, dice);
}

/// What each change leaves cannot have meant the same before, whatever characters it had.
void change_leaf(Document& document) {
  switch (document.kind) {
    case Kind::Null:
      document.kind = Kind::False;
      break;
    case Kind::False:
      document.kind = Kind::True;
      break;
    case Kind::True:
      document.kind = Kind::Text;
      document.text = "true";
      break;
    case Kind::Number:
      document.text += '1';
      document.exponent -= 1;
      break;
    case Kind::Text:
      document.text += 'x';
      break;
    case Kind::Array:
      document.items.emplace_back();
      break;
    case Kind::Object:
      document.names.emplace_back("a member of this name only");
      document.items.emplace_back();
      break;
  }
}

}  // namespace

Document some_document(Dice& dice) {
  Document document;
  int budget = 200;
  fill(document, dice, 0, budget);
  // Around the depth that is still keyed.
  const std::size_t around = dice.happens(16) ? 60 + dice.roll(6) : 0;
  for (std::size_t i = 0; i < around; ++i) {
    Document outer;
    outer.kind = Kind::Array;
    outer.items.push_back(std::move(document));
    document = std::move(outer);
  }
  return document;
}

std::string spelled(const Document& document, Dice& dice) {
  std::string out;
  spell(out, document, dice);
  return out;
}

void change_value(Document& document, Dice& dice) {
  Document* at = &document;
  while (!at->items.empty() && !dice.happens(4)) at = &at->items[dice.roll(at->items.size())];
  change_leaf(*at);
}

}  // namespace semel::fuzz
