// The operator's small pages. Beast, because nothing here is hot; in this file and no header.
#include "proxy/house_listener.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <memory>
#include <stdexcept>

namespace semel::proxy {
namespace {

namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using Socket = asio::basic_stream_socket<Tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<Tcp, Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Executor>;

constexpr std::chrono::seconds kPatience{10};

Task<http::response<http::string_body>> answer(const HousePages& pages, http::verb method,
                                               std::string target) {
  http::response<http::string_body> response;
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.set(http::field::cache_control, "no-store");
  target.resize(std::min(target.find('?'), target.size()));
  if (method != http::verb::get && method != http::verb::head) {
    response.result(http::status::method_not_allowed);
    response.set(http::field::allow, "GET, HEAD");
  } else if (target == "/metrics") {
    response.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
    response.body() = co_await pages.metrics();
  } else if (target == "/healthz") {
    response.body() = "ok\n";
  } else if (target == "/readyz") {
    const std::string why = co_await pages.not_ready();
    if (!why.empty()) response.result(http::status::service_unavailable);
    response.body() = why.empty() ? "ready\n" : why + "\n";
  } else {
    response.result(http::status::not_found);
    response.body() = "there are /metrics, /healthz and /readyz\n";
  }
  co_return response;
}

Task<> serve(std::shared_ptr<Socket> socket, const HousePages& pages) {
  // One timer for the whole visit: nobody reads metrics for minutes.
  Timer patience(socket->get_executor(), kPatience);
  patience.async_wait([socket](boost::system::error_code cancelled) {
    if (!cancelled) socket->close(cancelled);
  });
  boost::beast::flat_buffer buffer(16 * 1024);
  for (;;) {
    http::request<http::string_body> request;
    auto [read_error, read_bytes] = co_await http::async_read(*socket, buffer, request, kNoThrow);
    if (read_error) break;
    std::string target(request.target());
    auto response = co_await answer(pages, request.method(), std::move(target));
    const bool keep = request.keep_alive();
    response.keep_alive(keep);
    response.prepare_payload();
    if (request.method() == http::verb::head) response.body().clear();
    auto [write_error, written] = co_await http::async_write(*socket, response, kNoThrow);
    if (write_error || !keep) break;
  }
  boost::system::error_code ignored;
  socket->shutdown(Socket::shutdown_both, ignored);
}

}  // namespace

struct HouseListener::Impl {
  Impl(asio::io_context& io, HousePages answers)
      : acceptor(io.get_executor()), pages(std::move(answers)) {}
  Acceptor acceptor;
  HousePages pages;

  Task<> accept_loop() {
    while (acceptor.is_open()) {
      auto [error, socket] = co_await acceptor.async_accept(kNoThrow);
      if (error) {
        if (!acceptor.is_open()) co_return;
        Timer pause(acceptor.get_executor(), std::chrono::milliseconds(100));
        co_await pause.async_wait(kNoThrow);
        continue;
      }
      auto shared = std::make_shared<Socket>(std::move(socket));
      asio::co_spawn(acceptor.get_executor(), serve(std::move(shared), pages), asio::detached);
    }
  }
};

HouseListener::HouseListener(asio::io_context& io, const config::Address& address, HousePages pages)
    : impl_(std::make_unique<Impl>(io, std::move(pages))) {
  boost::system::error_code error;
  const auto host = asio::ip::make_address(address.host, error);
  if (error) throw std::runtime_error("metrics.address: " + address.text() + " is no IP address");
  const Tcp::endpoint endpoint(host, address.port);
  impl_->acceptor.open(endpoint.protocol(), error);
  if (!error) impl_->acceptor.set_option(Acceptor::reuse_address(true), error);
  if (!error) impl_->acceptor.bind(endpoint, error);
  if (!error) impl_->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    throw std::runtime_error("metrics.address: cannot listen on " + address.text() + ": " +
                             error.message());
  }
  asio::co_spawn(io, impl_->accept_loop(), asio::detached);
}

HouseListener::~HouseListener() = default;

void HouseListener::close() {
  boost::system::error_code ignored;
  impl_->acceptor.close(ignored);
}

}  // namespace semel::proxy
