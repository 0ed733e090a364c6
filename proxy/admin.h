#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/task.h"
#include "proxy/audit_log.h"
#include "proxy/event_feed.h"
#include "proxy/metrics.h"
#include "proxy/page_server.h"
#include "proxy/page_target.h"
#include "proxy/reload_report.h"
#include "proxy/resolve_order.h"
#include "stores/store.h"

namespace semel::proxy {

/// What operators may ask and order, once they are inside (spec 11).
///
/// `GET /v1/records`, `GET /v1/records/{reference}`, `POST /v1/records/{reference}/resolve`,
/// `DELETE /v1/tenants/{tenant}/records`, `POST /v1/store/acknowledge`, `GET /v1/events`, and
/// `POST /-/reload` where there is a reload. Every order leaves a line in the audit log, refused
/// ones too.
/// @thread The one that counts in the shard.
/// @source docs/http-surface.md, "The admin listener".
class Admin {
 public:
  static constexpr std::size_t kBodyBytesMax = 2 * 1024 * 1024;

  /// @param reload  Null: there is no such page.
  Admin(Store& store, MetricsShard& shard, AuditLog audit, Reload reload);

  Task<PageReply> answer(PageRequest request);

  /// Ends the streams of events, and waits for that a moment.
  Task<> end_streams();

 private:
  /// A request whose page was found.
  struct Call {
    std::string subject;  ///< The reference, or the tenant, that the path names.
    PageTarget target;
    PageRequest request;
  };
  struct Page {
    std::string_view method;
    std::vector<std::string_view> path;        ///< `*` stands for the subject.
    std::vector<std::string_view> parameters;  ///< That its query may have.
    Task<PageReply> (Admin::*act)(Call);
  };

  /// @param allow  The methods of the pages that have this path.
  [[nodiscard]] const Page* find(const PageRequest& request, const PageTarget& target,
                                 std::string& allow) const;
  Task<PageReply> list(Call call);
  Task<PageReply> show(Call call);
  Task<PageReply> resolve(Call call);
  Task<PageReply> forget(Call call);
  Task<PageReply> acknowledge(Call call);
  Task<PageReply> events(Call call);
  Task<PageReply> reload(Call call);
  Task<PageReply> resolve_current(Reference reference, Resolution resolution, AuditEntry& entry);
  Task<PageReply> show_resolved(Reference reference);
  Task<PageReply> refuse_alive(Reference reference);
  /// Counted, and told as it is.
  [[nodiscard]] PageReply failed(StoreOperation operation, Fault fault);

  Store& store_;
  MetricsShard& shard_;
  AuditLog audit_;
  Reload reload_;
  EventFeed feed_;
  std::vector<Page> pages_;
};

}  // namespace semel::proxy
