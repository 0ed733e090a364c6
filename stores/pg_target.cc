#include "stores/pg_target.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "stores/open.h"

namespace semel {
namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  for (;;) {
    const auto comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

/// The i-th of a list; one alone is everybody's, and none is the default.
std::string port_of(const std::vector<std::string>& list, std::size_t i) {
  const std::size_t at = list.size() == 1 ? 0 : i;
  return at < list.size() && !list[at].empty() ? list[at] : "5432";
}

bool is_port(const std::string& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 1 &&
         number <= 65'535;
}

std::string setting(std::string_view name, std::string_view value) {
  return " -c " + std::string(name) + '=' + std::string(value);
}

std::string setting(std::string_view name, std::chrono::milliseconds value) {
  return setting(name, std::to_string(value.count()));
}

}  // namespace

bool PgTarget::Host::is_local() const {
  return address.empty() && (name.empty() || name.front() == '/' || name.front() == '@');
}

std::string PgTarget::Host::spelled() const {
  const std::string& shown = name.empty() ? address : name;
  return (shown.empty() ? "its Unix socket" : shown) + (port.empty() ? "" : ':' + port);
}

PgTarget::PgTarget(std::string url, Patience patience)
    : url_(std::move(url)), effective_(pg_effective_words(url_)) {
  const auto names = split(word("host"));
  const auto addresses = split(word("hostaddr"));
  const auto ports = split(word("port"));
  const std::size_t count = std::max(names.size(), addresses.size());
  for (std::size_t i = 0; i < count; ++i) {
    Host host;
    if (i < names.size()) host.name = names[i];
    if (i < addresses.size()) host.address = addresses[i];
    host.port = port_of(ports, i);
    if (!is_port(host.port)) throw StoreError("store.postgres.url: a port is no number");
    if (count > 1 && host.name.empty() && host.address.empty()) {
      throw StoreError("store.postgres.url: a host in its list has no name");
    }
    hosts_.push_back(std::move(host));
  }
  // synchronous_commit is the operator's: it is read and graded, never changed. That a commit has
  // not waited for its standbys is said in a warning, and in nothing else.
  options_ = word("options") + setting("lock_timeout", patience.lock) +
             setting("statement_timeout", patience.statement) +
             setting("idle_in_transaction_session_timeout", patience.statement) +
             setting("default_transaction_isolation", "read\\ committed") +
             setting("search_path", "pg_catalog,pg_temp") +
             setting("client_min_messages", "warning") + setting("jit", "off");
}

const std::string& PgTarget::word(std::string_view name) const {
  static const std::string kNone;
  const auto found = std::find_if(effective_.begin(), effective_.end(),
                                  [&](const auto& each) { return each.first == name; });
  return found == effective_.end() ? kNone : found->second;
}

PgWords PgTarget::words(const Host& host, const std::string& address) const {
  PgWords words{
      {"dbname", url_},  // What follows overrides what it holds.
      {"host", host.name},   {"hostaddr", address},       {"port", host.port},
      {"options", options_}, {"client_encoding", "UTF8"}, {"fallback_application_name", "semel"}};
  const std::string& attributes = word("target_session_attrs");
  if (attributes.empty() || attributes == "any") {
    words.emplace_back("target_session_attrs", "read-write");
  }
  // Asking a ticket server would block a worker: only where the operator insists on it.
  if (word("gssencmode") != "require") words.emplace_back("gssencmode", "disable");
  const std::string& patience = word("tcp_user_timeout");
  if (patience.empty() || patience == "0") words.emplace_back("tcp_user_timeout", "2000");
  return words;
}

}  // namespace semel
