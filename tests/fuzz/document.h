#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/dice.h"

namespace semel::fuzz {

/// A JSON document before it is spelled: what it means, made from throws.
struct Document {
  enum class Kind : std::uint8_t { Null, False, True, Number, Text, Array, Object };
  Kind kind = Kind::Null;
  std::string text;  ///< A text's UTF-8; a number's digits, without zeros in front.
  bool negative = false;
  long exponent = 0;               ///< A number is its digits times ten to this.
  std::vector<Document> items;     ///< Of an array, or the members of an object.
  std::vector<std::string> names;  ///< Of an object's members.
};

/// At most a few hundred values; sometimes a number or a nesting around what is still keyed.
[[nodiscard]] Document some_document(Dice& dice);

/// One spelling of it: member order, white space, escapes, composed or decomposed characters, and
/// every number's digits, point and exponent are thrown for. The same value in every case.
[[nodiscard]] std::string spelled(const Document& document, Dice& dice);

/// Makes it another value: one of its values, thrown for, is changed so that no spelling of the
/// two is one document.
void change_value(Document& document, Dice& dice);

}  // namespace semel::fuzz
