// The chunked coding of RFC 9112 7.1, taken off byte by byte but for the data, which is one view.
#include <algorithm>

#include "proxy/byte_classes.h"
#include "proxy/http1_reader.h"

namespace semel::proxy {
namespace {

constexpr std::uint32_t kSizeDigitsMax = 16;
constexpr std::uint32_t kExtensionBytesMax = 4 * 1024;
constexpr std::uint32_t kTrailerBytesMax = 8 * 1024;

/// Where in `*( BWS ";" BWS name [ BWS "=" BWS value ] )` the next byte stands (RFC 9112 7.1.1).
enum Extension : std::uint8_t {
  kBeforeName,
  kInName,
  kAfterName,
  kBeforeValue,
  kInToken,
  kInQuotes,
  kInQuotedPair,
  kAfterQuotes,
  kBeforeSemicolon,
  kBadExtension,
};

constexpr bool is_white(char c) { return c == ' ' || c == '\t'; }

/// True where the grammar lets the line end.
constexpr bool may_end(std::uint8_t at) {
  return at == kInName || at == kInToken || at == kAfterQuotes;
}

/// The place behind `c`, which is no CR.
constexpr Extension step_extension(std::uint8_t at, char c) {
  const bool is_token = is_any_of(c, kTokenByte);
  switch (at) {
    case kBeforeName:
      return is_white(c) ? kBeforeName : is_token ? kInName : kBadExtension;
    case kInName:
      if (is_token) return kInName;
      [[fallthrough]];
    case kAfterName:
      if (is_white(c)) return kAfterName;
      return c == '=' ? kBeforeValue : c == ';' ? kBeforeName : kBadExtension;
    case kBeforeValue:
      if (is_white(c)) return kBeforeValue;
      return c == '"' ? kInQuotes : is_token ? kInToken : kBadExtension;
    case kInQuotes:
      if (c == '"') return kAfterQuotes;
      return c == '\\' ? kInQuotedPair : is_any_of(c, kTextByte) ? kInQuotes : kBadExtension;
    case kInQuotedPair:
      return is_any_of(c, kTextByte) ? kInQuotes : kBadExtension;
    case kInToken:
      if (is_token) return kInToken;
      [[fallthrough]];
    case kAfterQuotes:
    case kBeforeSemicolon:
      return is_white(c) ? kBeforeSemicolon : c == ';' ? kBeforeName : kBadExtension;
    default:
      return kBadExtension;
  }
}

/// Where in a trailer line the next byte stands.
enum Trailer : std::uint8_t { kLineBegin, kInTrailerName, kInTrailerValue };

constexpr std::uint64_t hex_value(char c) {
  return static_cast<std::uint64_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

}  // namespace

ChunkDecoder::Step ChunkDecoder::next(std::string_view input) {
  std::size_t i = 0;
  while (at_ != At::Done && at_ != At::Bad && i < input.size()) {
    if (at_ == At::Data) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left_, input.size() - i));
      left_ -= size;
      if (left_ == 0) at_ = At::DataCr;
      return {State::More, i + size, input.substr(i, size)};
    }
    at_ = take(input[i]);
    ++i;
  }
  switch (at_) {
    case At::Done:
      return {State::Done, i, {}};
    case At::Bad:
      return {State::Malformed, i, {}};
    default:
      return {State::More, i, {}};
  }
}

ChunkDecoder::At ChunkDecoder::take(char c) {
  switch (at_) {
    case At::Size:
      return take_size(c);
    case At::AfterSize:
    case At::Extension:
      return take_extension(c);
    case At::SizeLf:
      if (c != '\n') return At::Bad;
      digits_ = 0;
      grammar_ = kLineBegin;
      return left_ == 0 ? At::Trailer : At::Data;
    case At::DataCr:
      return c == '\r' ? At::DataLf : At::Bad;
    case At::DataLf:
      return c == '\n' ? At::Size : At::Bad;
    case At::Trailer:
      return take_trailer(c);
    case At::TrailerLf:
      grammar_ = kLineBegin;
      return c == '\n' ? At::Trailer : At::Bad;
    case At::EndLf:
      return c == '\n' ? At::Done : At::Bad;
    case At::Data:
    case At::Done:
    case At::Bad:
      break;
  }
  return At::Bad;
}

ChunkDecoder::At ChunkDecoder::take_size(char c) {
  if (is_any_of(c, kHexByte)) {
    if (++digits_ > kSizeDigitsMax) return At::Bad;
    left_ = left_ << 4 | hex_value(c);
    return At::Size;
  }
  // More than 2^63-1 is no length anywhere else either.
  if (digits_ == 0 || left_ > static_cast<std::uint64_t>(INT64_MAX)) return At::Bad;
  if (c == '\r') return At::SizeLf;
  return take_extension(c);
}

ChunkDecoder::At ChunkDecoder::take_extension(char c) {
  if (c == '\r' && at_ == At::Extension) return may_end(grammar_) ? At::SizeLf : At::Bad;
  if (++extension_bytes_ > kExtensionBytesMax) return At::Bad;
  if (at_ != At::Extension) {  // white space is allowed only before a semicolon
    grammar_ = kBeforeName;
    return is_white(c) ? At::AfterSize : c == ';' ? At::Extension : At::Bad;
  }
  grammar_ = step_extension(grammar_, c);
  return grammar_ == kBadExtension ? At::Bad : At::Extension;
}

ChunkDecoder::At ChunkDecoder::take_trailer(char c) {
  if (++trailer_bytes_ > kTrailerBytesMax) return At::Bad;
  switch (grammar_) {
    case kLineBegin:
      if (c == '\r') return At::EndLf;
      grammar_ = kInTrailerName;
      return is_any_of(c, kTokenByte) ? At::Trailer : At::Bad;
    case kInTrailerName:
      if (c == ':') grammar_ = kInTrailerValue;
      return c == ':' || is_any_of(c, kTokenByte) ? At::Trailer : At::Bad;
    default:
      if (c == '\r') return At::TrailerLf;
      return is_any_of(c, kTextByte) ? At::Trailer : At::Bad;
  }
}

}  // namespace semel::proxy
