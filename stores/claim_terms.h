#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "core/claim.h"
#include "core/policy.h"
#include "stores/claim_reply.h"

namespace semel {

/// What all claims of one caller on one route have in common.
struct ClaimTerms {
  Policy policy = Policy::Effectful;
  std::chrono::seconds retention{0};
  std::optional<std::chrono::seconds> indeterminate_retention;  ///< Absent: never expires.
  CallerDigest caller;
  std::string tenant;
  std::string route;
  bool operator==(const ClaimTerms&) const = default;
};
using ClaimTermsPtr = std::shared_ptr<const ClaimTerms>;

[[nodiscard]] ClaimTerms terms_of(const ClaimRequest& request);
/// True if `terms` are those of the request, found out without an allocation.
[[nodiscard]] bool same_terms(const ClaimTerms& terms, const ClaimRequest& request);

/// Keeps one copy of equal terms for however many records. Terms that no record has any more go at
/// the latest when the pool has doubled.
/// @thread  One at a time, and so are all who hold its terms.
class TermsPool {
 public:
  [[nodiscard]] ClaimTermsPtr share(const ClaimRequest& request);
  [[nodiscard]] ClaimTermsPtr share(ClaimTermsPtr terms);
  /// Lets go of all that nobody else holds.
  void purge();
  [[nodiscard]] std::size_t size() const { return terms_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const ClaimTermsPtr& terms) const noexcept;
    std::size_t operator()(const ClaimRequest& request) const noexcept;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const ClaimTermsPtr& a, const ClaimTermsPtr& b) const { return *a == *b; }
    bool operator()(const ClaimTermsPtr& a, const ClaimRequest& b) const {
      return same_terms(*a, b);
    }
    bool operator()(const ClaimRequest& a, const ClaimTermsPtr& b) const {
      return same_terms(*b, a);
    }
  };

  void add(const ClaimTermsPtr& terms);

  std::unordered_set<ClaimTermsPtr, Hash, Equal> terms_;
  std::size_t purge_at_ = 1024;
};

}  // namespace semel
