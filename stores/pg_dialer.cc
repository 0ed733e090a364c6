#include "stores/pg_dialer.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string_view>

namespace semel {

/// One name on its way through the system's resolver, which cannot be stopped: whoever has waited
/// long enough leaves it behind.
struct PgDialer::Lookup {
  using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;
  explicit Lookup(const Executor& executor) {
    resolver.emplace(executor);
    ended.emplace(executor);
  }
  void leave() {
    resolver.reset();
    ended.reset();
  }

  std::optional<Resolver> resolver;
  std::optional<Timer> ended;
  std::vector<std::string> found;
};

namespace {

/// What is left until then, in equal shares.
PgDialer::Clock::time_point share_of(PgDialer::Clock::time_point until, std::size_t sharers) {
  const auto now = PgDialer::Clock::now();
  return now + (until - now) / static_cast<std::ptrdiff_t>(sharers);
}

}  // namespace

PgDialer::PgDialer(Executor executor, std::shared_ptr<const PgTarget> target)
    : executor_(std::move(executor)), target_(std::move(target)) {}

PgDialer::~PgDialer() { close(); }

void PgDialer::close() {
  is_closed_ = true;
  deadline_.reset();
  if (lookup_) lookup_->leave();
  if (socket_) socket_->close();
}

void PgDialer::complain(const PgTarget::Host& host, std::string_view why) {
  if (!trouble_.empty()) trouble_ += "; ";
  trouble_ += host.spelled() + ": " + std::string(why);
  // libpq's words for what `target_session_attrs=read-write` does not take.
  if (why.ends_with("session is read-only")) trouble_ += ": is it a standby?";
}

Task<std::shared_ptr<PgSocket>> PgDialer::dial(Clock::time_point until) {
  trouble_.clear();
  std::size_t left = target_->hosts().size();
  for (const PgTarget::Host& host : target_->hosts()) {
    auto socket = co_await dial_host(host, share_of(until, left--));
    if (socket || is_closed_) co_return socket;
  }
  co_return nullptr;
}

Task<std::shared_ptr<PgSocket>> PgDialer::dial_host(PgTarget::Host host, Clock::time_point until) {
  std::vector<std::string> addresses{host.address};
  if (host.address.empty() && !host.is_local()) addresses = co_await look_up(host.name, until);
  if (addresses.empty()) complain(host, "the name does not resolve");
  std::size_t left = addresses.size();
  for (const std::string& address : addresses) {
    if (is_closed_) break;
    auto socket = std::make_shared<PgSocket>(executor_, target_->words(host, address));
    if (co_await connect(socket, share_of(until, left--))) co_return socket;
    complain(host, socket->is_open() ? socket->connection().error() : "no answer in time");
    socket->close();
  }
  co_return nullptr;
}

Task<bool> PgDialer::connect(std::shared_ptr<PgSocket> socket, Clock::time_point until) {
  socket_ = socket;
  deadline_.emplace(executor_, until);
  auto is_under_way = std::make_shared<bool>(true);
  deadline_->async_wait([socket, is_under_way](auto) {
    if (*is_under_way) socket->close();
  });
  const bool connected = co_await PgSocket::connect(socket);
  *is_under_way = false;
  deadline_.reset();
  socket_.reset();
  co_return connected && !is_closed_;
}

Task<std::vector<std::string>> PgDialer::look_up(std::string name, Clock::time_point until) {
  std::vector<std::string> found;
  boost::system::error_code not_numeric;
  (void)asio::ip::make_address(name, not_numeric);
  if (!not_numeric) {
    found.push_back(std::move(name));
    co_return found;
  }
  auto lookup = std::make_shared<Lookup>(executor_);
  lookup_ = lookup;
  lookup->ended->expires_at(until);
  lookup->resolver->async_resolve(name, "", [lookup](auto error, auto results) {
    for (const auto& entry : results) {
      if (!error) lookup->found.push_back(entry.endpoint().address().to_string());
    }
    if (lookup->ended) lookup->ended->cancel();
  });
  (void)co_await lookup->ended->async_wait(kNoThrow);
  lookup_.reset();
  lookup->leave();
  co_return std::move(lookup->found);
}

}  // namespace semel
