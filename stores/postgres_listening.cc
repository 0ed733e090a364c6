#include "stores/postgres_listening.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "stores/postgres_statements.h"

namespace semel::postgres {
namespace {

std::optional<std::uint8_t> digit_of(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<std::uint8_t>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<std::uint8_t>(digit - 'a' + 10);
  return std::nullopt;
}

/// Of 64 digits, as `semel.wake` spells it: anybody may notify on the channel.
std::optional<IdempotencyKey> key_of(std::string_view text) {
  IdempotencyKey key;
  if (text.size() != 2 * key.bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    const auto high = digit_of(text[2 * i]);
    const auto low = digit_of(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    key.bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return key;
}

}  // namespace

PgAdmission admission(const std::shared_ptr<Meeting>& meeting) {
  // A link may outlive its store, and the folder of the witness is the next one's then.
  PgAdmission admit;
  admit.question = &kMeet;
  admit.params = [weak = std::weak_ptr(meeting)](std::size_t) {
    const auto met = weak.lock();
    return met ? met->question() : std::vector<PgValue>(kMeet.types.size());
  };
  admit.judge = [weak = std::weak_ptr(meeting)](const PgFacts& facts, std::size_t,
                                                const Result<PgRows>& answer) -> Result<void> {
    const auto met = weak.lock();
    if (!met) return Fault::StoreUnreachable;
    return met->judge(facts, answer);
  };
  return admit;
}

PgListening listening(std::shared_ptr<KeyWaits> waits) {
  PgListening hear;
  hear.channel = "semel_woken";
  hear.on_message = [waits](std::string_view payload) {
    if (const auto key = key_of(payload)) waits->wake(*key);
  };
  hear.on_loss = [waits] { waits->wake_all(); };
  return hear;
}

}  // namespace semel::postgres
