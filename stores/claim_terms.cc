#include "stores/claim_terms.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

namespace semel {
namespace {

std::size_t hash_of(std::string_view tenant, std::string_view route, const CallerDigest& caller) {
  std::uint64_t prefix;
  std::memcpy(&prefix, caller.bytes.data(), sizeof prefix);
  const std::hash<std::string_view> hash;
  return hash(tenant) * 31 + hash(route) + prefix;
}

}  // namespace

ClaimTerms terms_of(const ClaimRequest& request) {
  return {request.policy,          request.retention, request.indeterminate_retention,
          request.bindings.caller, request.tenant,    request.route};
}

bool same_terms(const ClaimTerms& terms, const ClaimRequest& request) {
  return terms.policy == request.policy && terms.retention == request.retention &&
         terms.indeterminate_retention == request.indeterminate_retention &&
         terms.caller == request.bindings.caller && terms.tenant == request.tenant &&
         terms.route == request.route;
}

std::size_t TermsPool::Hash::operator()(const ClaimTermsPtr& terms) const noexcept {
  return hash_of(terms->tenant, terms->route, terms->caller);
}

std::size_t TermsPool::Hash::operator()(const ClaimRequest& request) const noexcept {
  return hash_of(request.tenant, request.route, request.bindings.caller);
}

ClaimTermsPtr TermsPool::share(const ClaimRequest& request) {
  if (const auto known = terms_.find(request); known != terms_.end()) return *known;
  auto terms = std::make_shared<const ClaimTerms>(terms_of(request));
  add(terms);
  return terms;
}

ClaimTermsPtr TermsPool::share(ClaimTermsPtr terms) {
  if (const auto known = terms_.find(terms); known != terms_.end()) return *known;
  add(terms);
  return terms;
}

void TermsPool::add(const ClaimTermsPtr& terms) {
  if (terms_.size() >= purge_at_) {
    purge();
    purge_at_ = std::max(purge_at_, terms_.size() * 2);
  }
  terms_.insert(terms);
}

void TermsPool::purge() {
  std::erase_if(terms_, [](const ClaimTermsPtr& terms) { return terms.use_count() == 1; });
}

}  // namespace semel
