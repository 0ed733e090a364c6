#include "proxy/problem_page.h"

namespace semel::proxy {

PageReply problem_page(const Problem& problem) {
  PageReply reply;
  reply.status = row(problem.type).status;
  reply.content_type = "application/problem+json";
  reply.body = render_body(problem);
  if (problem.retry_after_seconds) {
    reply.fields.emplace_back("Retry-After", std::to_string(*problem.retry_after_seconds));
  }
  return reply;
}

PageReply problem_page(ProblemType type, std::string detail) {
  Problem problem;
  problem.type = type;
  problem.detail = std::move(detail);
  return problem_page(problem);
}

}  // namespace semel::proxy
