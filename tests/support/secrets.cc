#include "tests/support/secrets.h"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace semel::testing {
namespace {

std::string hex(std::string_view bytes, std::string_view digits) {
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value >> 4U];
    text += digits[value & 15U];
  }
  return text;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string percent_encoded(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    if (std::isalnum(static_cast<unsigned char>(byte)) != 0 ||
        std::string_view("-._~").find(byte) != std::string_view::npos) {
      text += byte;
    } else {
      text += "%" + hex({&byte, 1}, "0123456789ABCDEF");
    }
  }
  return text;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t size = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (k < size ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= size ? kAlphabet[group >> (18U - 6U * k) & 63U] : '=';
    }
  }
  return text;
}

std::string Secrets::plant() {
  static constexpr std::string_view kCharacters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::uniform_int_distribution<std::size_t> draw(0, kCharacters.size() - 1);
  std::string secret;
  while (secret.size() < 24) secret += kCharacters[draw(random_)];
  plant(secret);
  return secret + "/+~" + std::to_string(planted_);
}

void Secrets::plant(const std::string& secret) {
  ++planted_;
  look_for(secret, "clear: " + secret);
  look_for(lower(secret), "lower case: " + secret);
  look_for(percent_encoded(secret), "URL-encoded: " + secret);
  look_for(hex(secret, "0123456789abcdef"), "hex: " + secret);
  look_for(hex(secret, "0123456789ABCDEF"), "upper-case hex: " + secret);
  // Whatever stands before it, one of three alignments is its own; the edges belong to neighbours.
  for (const std::size_t before : {0U, 1U, 2U}) {
    std::string coded = base64(std::string(before, '.') + secret);
    coded = coded.substr(before == 0 ? 0 : 4,
                         (secret.size() + before) / 3 * 4 - (before == 0 ? 0U : 4U));
    look_for(coded, "base64: " + secret);
    std::replace(coded.begin(), coded.end(), '+', '-');
    std::replace(coded.begin(), coded.end(), '/', '_');
    look_for(coded, "base64url: " + secret);
  }
}

void Secrets::look_for(std::string text, const std::string& told_as) {
  if (text.size() < kPrefix) throw std::logic_error("too short to be a secret: " + told_as);
  const std::string prefix = text.substr(0, kPrefix);
  by_prefix_[prefix].push_back({std::move(text), told_as});
}

std::vector<std::string> Secrets::found_in(std::string_view text) const {
  std::vector<std::string> found;
  std::string window;
  for (std::size_t at = 0; at + kPrefix <= text.size(); ++at) {
    window.assign(text.substr(at, kPrefix));
    const auto forms = by_prefix_.find(window);
    if (forms == by_prefix_.end()) continue;
    for (const Form& form : forms->second) {
      if (text.substr(at).starts_with(form.text)) found.push_back(form.told_as);
    }
  }
  return found;
}

}  // namespace semel::testing
