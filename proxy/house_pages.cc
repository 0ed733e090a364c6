#include "proxy/house_pages.h"

#include <memory>

namespace semel::proxy {
namespace {

/// Nobody sends these pages anything; what a client sends all the same is read and dropped.
constexpr std::size_t kBodyBytesMax = 64 * 1024;

Task<PageReply> answer(std::shared_ptr<const HouseSources> sources, PageRequest request) {
  PageReply reply;
  if (request.method != "GET" && request.method != "HEAD") {
    reply.status = 405;
    reply.fields.emplace_back("Allow", "GET, HEAD");
  } else if (request.path == "/metrics") {
    reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
    reply.body = co_await sources->metrics();
  } else if (request.path == "/healthz") {
    reply.body = "ok\n";
  } else if (request.path == "/readyz") {
    const std::string why = co_await sources->not_ready();
    if (!why.empty()) reply.status = 503;
    reply.body = why.empty() ? "ready\n" : why + "\n";
  } else {
    reply.status = 404;
    reply.body = "there are /metrics, /healthz and /readyz\n";
  }
  co_return reply;
}

}  // namespace

Pages house_pages(HouseSources sources) {
  Pages pages;
  pages.body_bytes_max = kBodyBytesMax;
  auto shared = std::make_shared<const HouseSources>(std::move(sources));
  pages.answer = [shared](PageRequest request) { return answer(shared, std::move(request)); };
  pages.unreadable = [](std::uint16_t status) {
    PageReply reply;
    reply.status = status;
    return reply;
  };
  return pages;
}

}  // namespace semel::proxy
