#include "core/decimal.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/check.h"

namespace semel {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_length(std::string_view text, std::size_t from) {
  std::size_t i = from;
  while (i < text.size() && is_digit(text[i])) ++i;
  return i - from;
}

/// A number taken apart; the pieces point into its text.
struct Pieces {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  std::string_view exponent;  ///< With its sign; empty where there is none.
};

Pieces take_apart(std::string_view number) {
  Pieces pieces;
  if (number.starts_with('-')) {
    pieces.negative = true;
    number.remove_prefix(1);
  }
  const std::size_t e = number.find_first_of("eE");
  if (e != number.npos) {
    pieces.exponent = number.substr(e + 1);
    number = number.substr(0, e);
  }
  const std::size_t dot = number.find('.');
  pieces.whole = number.substr(0, dot);
  if (dot != number.npos) pieces.fraction = number.substr(dot + 1);
  return pieces;
}

bool is_zero(const Pieces& pieces) {
  const auto all_zero = [](std::string_view digits) {
    return digits.find_first_not_of('0') == digits.npos;
  };
  return all_zero(pieces.whole) && all_zero(pieces.fraction);
}

/// The exponent's value, or one beyond the bound for anything beyond it: the text may be endless.
int exponent_value(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  int value = 0;
  for (const char digit : text) {
    value = value * 10 + (digit - '0');
    if (value > kDecimalExponentMax) {
      value = kDecimalExponentMax + 1;
      break;
    }
  }
  return negative ? -value : value;
}

}  // namespace

std::size_t number_length(std::string_view text) {
  std::size_t i = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = digits_length(text, i);
  if (whole == 0) return 0;
  if (whole > 1 && text[i] == '0') return 0;
  i += whole;
  if (i < text.size() && text[i] == '.') {
    const std::size_t fraction = digits_length(text, i + 1);
    if (fraction == 0) return 0;
    i += 1 + fraction;
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    const std::size_t exponent = digits_length(text, i);
    if (exponent == 0) return 0;
    i += exponent;
  }
  return i;
}

bool is_keyable_number(std::string_view number) {
  // Nearly every number is short and has no exponent, and needs no taking apart.
  const auto is_mark = [](char c) { return c == 'e' || c == 'E'; };
  if (number.size() <= kDecimalDigitsMax && std::none_of(number.begin(), number.end(), is_mark)) {
    return true;
  }
  const Pieces pieces = take_apart(number);
  if (is_zero(pieces)) return true;
  return pieces.whole.size() + pieces.fraction.size() <= kDecimalDigitsMax &&
         std::abs(exponent_value(pieces.exponent)) <= kDecimalExponentMax;
}

void append_canonical_decimal(std::string_view number, std::string& out) {
  const Pieces pieces = take_apart(number);
  if (is_zero(pieces)) {
    out.append("0e0");
    return;
  }
  if (pieces.negative) out.push_back('-');
  const std::size_t start = out.size();
  out.append(pieces.whole);
  out.append(pieces.fraction);
  int exponent = exponent_value(pieces.exponent) - static_cast<int>(pieces.fraction.size());
  while (out.back() == '0') {
    out.pop_back();
    ++exponent;
  }
  out.erase(start, out.find_first_not_of('0', start) - start);
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, exponent);
  SEMEL_CHECK(end.ec == std::errc());
  out.push_back('e');
  out.append(text, end.ptr);
}

}  // namespace semel
