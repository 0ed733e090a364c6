#pragma once

#include "core/problem.h"
#include "proxy/page_server.h"

namespace semel::proxy {

/// A refusal as a page: application/problem+json, with Retry-After where the problem has one.
[[nodiscard]] PageReply problem_page(const Problem& problem);
/// @param detail  Empty: the sentence of the type's own row.
[[nodiscard]] PageReply problem_page(ProblemType type, std::string detail = {});

}  // namespace semel::proxy
