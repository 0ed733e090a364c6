#pragma once

#include <memory>
#include <optional>

#include "stores/pg_link.h"

namespace semel {

/// A connection that listens to one channel, for the whole process. LISTEN is said again every now
/// and then: that changes nothing, and its answer shows that the connection is still one.
/// @thread As PgLink.
class PgListener : public std::enable_shared_from_this<PgListener> {
 public:
  /// @param terms  Their admission and hooks are replaced.
  PgListener(Executor executor, PgLinkTerms terms, PgListening listening);

  void start();
  void close();

 private:
  static Task<> keep_asking(std::shared_ptr<PgListener> self);
  [[nodiscard]] PgLinkTerms listening_terms(PgLinkTerms terms) const;

  const Executor executor_;
  const PgListening listening_;
  const std::shared_ptr<const PgStatement> listen_;
  const std::shared_ptr<PgLink> link_;
  std::optional<PgLink::Timer> pause_;
  bool is_closed_ = false;
};

}  // namespace semel
