#include "stores/redis_refusal.h"

#include <array>
#include <charconv>
#include <string_view>

namespace semel {
namespace {

struct Row {
  std::string_view code;
  RedisRefusal refusal;
};
constexpr std::array kRows{
    Row{"NOSCRIPT", RedisRefusal::UnknownText},
    Row{"MOVED", RedisRefusal::Moved},
    Row{"ASK", RedisRefusal::Asked},
    Row{"TRYAGAIN", RedisRefusal::TryAgain},
    Row{"READONLY", RedisRefusal::Demoted},
    Row{"MASTERDOWN", RedisRefusal::Demoted},
    Row{"OOM", RedisRefusal::Full},
    Row{"LOADING", RedisRefusal::Unable},
    Row{"BUSY", RedisRefusal::Unable},
    Row{"NOREPLICAS", RedisRefusal::Unable},
    Row{"MISCONF", RedisRefusal::Unable},
    Row{"CLUSTERDOWN", RedisRefusal::Unable},
    Row{"NOPERM", RedisRefusal::Forbidden},
    Row{"NOAUTH", RedisRefusal::Forbidden},
    Row{"WRONGPASS", RedisRefusal::Forbidden},
};

/// As a server ends the words of an error that it met in a script: `script: SHA1, on
/// @user_script:7.`
bool names_script(std::string_view text) {
  return text.find(" script: ") != std::string_view::npos;
}

}  // namespace

RedisRefusal refusal_of(const RedisReply& reply) {
  const std::string_view code = reply.code();
  if (code.empty()) return RedisRefusal::None;
  for (const Row& row : kRows) {
    if (row.code != code) continue;
    // The one word of these that a command in a script may meet behind the first write.
    const bool is_half_way = row.refusal == RedisRefusal::Forbidden && names_script(reply.text);
    return is_half_way ? RedisRefusal::None : row.refusal;
  }
  return RedisRefusal::None;
}

Fault fault_of(RedisRefusal refusal) {
  return refusal == RedisRefusal::Full ? Fault::StoreFull : Fault::StoreUnreachable;
}

std::string login_refusal(const RedisReply& reply) {
  const std::string_view code = reply.code();
  for (const Row& row : kRows) {
    if (row.code == code) return std::string(code);
  }
  const std::string left_out = "words that are left out, because they may quote the password";
  return code == "ERR" ? "ERR, and " + left_out : left_out;
}

std::optional<Peer> redirect_of(const RedisReply& reply, const Peer& asked) {
  const std::string_view text = reply.text;
  const auto place = text.rfind(' ');
  const auto colon = text.rfind(':');
  if (place == std::string_view::npos || colon == std::string_view::npos || colon < place) {
    return std::nullopt;
  }
  Peer peer;
  peer.host = text.substr(place + 1, colon - place - 1);
  if (peer.host.empty() || peer.host == "?") peer.host = asked.host;
  const std::string_view port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), peer.port);
  if (error != std::errc{} || end != port.data() + port.size() || peer.port == 0) {
    return std::nullopt;
  }
  return peer;
}

}  // namespace semel
