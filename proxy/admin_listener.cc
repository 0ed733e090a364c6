#include "proxy/admin_listener.h"

#include "proxy/problem_page.h"

namespace semel::proxy {
namespace {

PageReply unreadable(std::uint16_t status) {
  if (status == 413) {
    return problem_page(ProblemType::BodyTooLarge, "A body here has at most 2 MiB.");
  }
  if (status == 431) return problem_page(ProblemType::HeadersTooLarge);
  return problem_page(ProblemType::BadRequest, "The request is not well-formed HTTP/1.1.");
}

}  // namespace

AdminListener::AdminListener(asio::io_context& io, const config::Admin& admin, Admin pages)
    : pages_(std::move(pages)) {
  Pages served;
  served.body_bytes_max = Admin::kBodyBytesMax;
  served.refuse = [this](const PageRequest& head) { return gate_->refusal(head); };
  served.answer = [this](PageRequest request) { return pages_.answer(std::move(request)); };
  served.unreadable = unreadable;
  server_.emplace(io, admin.address, "admin.address", std::move(served));
  gate_.emplace(server_->address(), admin.token);
}

}  // namespace semel::proxy
