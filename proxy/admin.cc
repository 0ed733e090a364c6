// The operator's door: reads a request for a page, asks the store, tells. Who may come in is
// admin_gate's to say; how bytes become requests, page_server's.
#include "proxy/admin.h"

#include <algorithm>

#include "config/units.h"
#include "core/check.h"
#include "core/json_object.h"
#include "proxy/problem_page.h"
#include "proxy/record_json.h"

namespace semel::proxy {
namespace {

constexpr std::size_t kPageRecords = 100;
constexpr std::size_t kPageRecordsMax = 1000;
/// Longer than a stream that is read needs to end; one that is not read is cut.
constexpr std::chrono::seconds kStreamEnd{1};

PageReply json_page(std::string body) {
  PageReply reply;
  reply.content_type = "application/json";
  reply.body = std::move(body) + "\n";
  return reply;
}

PageReply bad_request(std::string sentence) {
  return problem_page(ProblemType::BadRequest, std::move(sentence));
}

/// What the store's news means to an operator, and what may be assumed.
PageReply fault_page(Fault fault) {
  if (fault == Fault::RecordCorrupt) return problem_page(ProblemType::RecordUnreadable);
  Problem problem;
  problem.type = ProblemType::StoreUnavailable;
  problem.retry_after_seconds = 1;
  if (fault == Fault::StoreTimeout) {
    problem.detail =
        "The store did not answer in time: the order may have been carried out. Look at the record "
        "before you repeat it.";
  } else if (fault == Fault::StoreFull) {
    problem.detail =
        "The store has no room for this response and nothing was changed: resolve without one, or "
        "make room.";
  } else {
    problem.detail = "The store cannot be asked (" + std::string(name(fault)) +
                     ") and nothing was changed: repeat the request.";
  }
  return problem_page(problem);
}

/// Who did it and why, where an order has no body to say so.
/// @return Why not, or an empty text.
std::string read_author(const PageTarget& target, AuditEntry& entry) {
  entry.operator_name = target.first("operator").value_or("");
  entry.note = target.first("note").value_or("");
  const auto unfit = unfit_for_the_log(entry.operator_name, kOperatorBytesMax);
  if (!unfit.empty()) return "operator " + std::string(unfit) + ".";
  const auto unfit_note = unfit_for_the_log(entry.note, kNoteBytesMax);
  return unfit_note.empty() ? "" : "note " + std::string(unfit_note) + ".";
}

/// @return The filter, or one sentence that says what is wrong.
std::variant<ListFilter, std::string> read_filter(const PageTarget& target) {
  ListFilter filter;
  filter.limit = kPageRecords;
  filter.tenant = target.first("tenant");
  filter.after = target.first("after").value_or("");
  if (const auto word = target.first("state")) {
    filter.state = parse_state(*word);
    if (!filter.state) return "state must be in_flight, completed or indeterminate.";
  }
  if (const auto text = target.first("limit")) {
    const auto limit = config::parse_integer(*text);
    if (!limit || *limit < 1 || *limit > kPageRecordsMax) return "limit must be 1 to 1000.";
    filter.limit = static_cast<std::size_t>(*limit);
  }
  return filter;
}

}  // namespace

Admin::Admin(Store& store, MetricsShard& shard, AuditLog audit, Reload reload)
    : store_(store), shard_(shard), audit_(audit), reload_(std::move(reload)), feed_(store) {
  pages_ = {
      {"GET", {"v1", "records"}, {"state", "tenant", "after", "limit"}, &Admin::list},
      {"GET", {"v1", "records", "*"}, {}, &Admin::show},
      {"POST", {"v1", "records", "*", "resolve"}, {}, &Admin::resolve},
      {"DELETE", {"v1", "tenants", "*", "records"}, {"operator", "note"}, &Admin::forget},
      {"POST", {"v1", "store", "acknowledge"}, {"operator", "note"}, &Admin::acknowledge},
      {"GET", {"v1", "events"}, {"after", "limit"}, &Admin::events},
  };
  if (reload_) {
    pages_.push_back(
        {"POST", {"-", "reload"}, {"acknowledge", "operator", "note"}, &Admin::reload});
  }
}

Task<PageReply> Admin::answer(PageRequest request) {
  Call call;
  auto target = read_page_target(request.path, request.query);
  if (!target) co_return bad_request("The path or the query cannot be read.");
  std::string allow;
  const Page* page = find(request, *target, allow);
  if (page == nullptr && allow.empty()) {
    co_return problem_page(ProblemType::NoRoute, "There is no such page on the admin listener.");
  }
  if (page == nullptr) {
    PageReply reply = problem_page(ProblemType::Method);
    reply.fields.emplace_back("Allow", allow);
    co_return reply;
  }
  for (const auto& [name, value] : target->query) {
    if (std::find(page->parameters.begin(), page->parameters.end(), name) ==
        page->parameters.end()) {
      co_return bad_request("The query has a parameter that is not known: \"" + name + "\".");
    }
    if (name != "acknowledge" && target->all(name).size() > 1) {
      co_return bad_request("The query has " + name + " twice.");
    }
  }
  for (std::size_t i = 0; i < page->path.size(); ++i) {
    if (page->path[i] == "*") call.subject = target->path[i];
  }
  call.target = *std::move(target);
  call.request = std::move(request);
  co_return co_await (this->*page->act)(std::move(call));
}

const Admin::Page* Admin::find(const PageRequest& request, const PageTarget& target,
                               std::string& allow) const {
  for (const Page& page : pages_) {
    const bool matches =
        std::equal(page.path.begin(), page.path.end(), target.path.begin(), target.path.end(),
                   [](auto expected, auto& found) { return expected == "*" || expected == found; });
    if (!matches) continue;
    if (page.method == request.method) return &page;
    allow.append(allow.empty() ? "" : ", ").append(page.method);
  }
  return nullptr;
}

PageReply Admin::failed(StoreOperation operation, Fault fault) {
  shard_.store_errors[static_cast<std::size_t>(operation)].add();
  return fault_page(fault);
}

Task<PageReply> Admin::list(Call call) {
  auto filter = read_filter(call.target);
  if (const auto* wrong = std::get_if<std::string>(&filter)) co_return bad_request(*wrong);
  const auto page = co_await store_.list(std::get<ListFilter>(std::move(filter)));
  if (page.has_error()) co_return failed(StoreOperation::List, page.error());
  std::string body;
  JsonObject object(body);
  object.begin("records");
  body += '[';
  for (const RecordView& record : page->records) {
    if (&record != page->records.data()) body += ',';
    append_record(body, record);
  }
  body += ']';
  if (page->next.empty()) {
    object.null("next");
  } else {
    object.text("next", page->next);
  }
  object.end();
  co_return json_page(std::move(body));
}

Task<PageReply> Admin::show(Call call) {
  const auto reference = parse_reference(call.subject);
  if (!reference) co_return problem_page(ProblemType::NoRecord);
  const auto view = co_await store_.find(*reference);
  if (view.has_error()) co_return failed(StoreOperation::Find, view.error());
  if (!*view) co_return problem_page(ProblemType::NoRecord);
  std::string body;
  append_record(body, **view);
  co_return json_page(std::move(body));
}

Task<PageReply> Admin::resolve(Call call) {
  const auto reference = parse_reference(call.subject);
  if (!reference) co_return problem_page(ProblemType::NoRecord);
  auto read = read_resolve_order(call.request.body);
  if (const auto* wrong = std::get_if<std::string>(&read)) co_return bad_request(*wrong);
  auto& order = std::get<ResolveOrder>(read);
  AuditEntry entry;
  entry.action = "resolve";
  entry.reference = call.subject;
  entry.decision = name(order.resolution.decision);
  entry.operator_name = order.operator_name;
  entry.note = order.note;
  PageReply reply = co_await resolve_current(*reference, std::move(order.resolution), entry);
  audit_.write(entry);
  co_return reply;
}

/// @param entry  Is told the result.
Task<PageReply> Admin::resolve_current(Reference reference, Resolution resolution,
                                       AuditEntry& entry) {
  const auto decision = static_cast<std::size_t>(resolution.decision);
  const auto resolved = co_await store_.resolve(reference, std::move(resolution));
  if (resolved.has_error()) {
    entry.result = name(resolved.error());
    co_return failed(StoreOperation::Resolve, resolved.error());
  }
  switch (*resolved) {
    case ResolveReply::Done:
      entry.result = "done";
      shard_.resolutions[decision].add();
      co_return co_await show_resolved(reference);
    case ResolveReply::NotFound:
      entry.result = "not_current";
      co_return problem_page(ProblemType::NotCurrent);
    case ResolveReply::NotUnknown:
      entry.result = "not_indeterminate";
      co_return problem_page(ProblemType::NotIndeterminate);
    case ResolveReply::AttemptAlive:
      entry.result = "attempt_alive";
      co_return co_await refuse_alive(reference);
  }
  SEMEL_CHECK(false && "a store answers with one of these");
}

/// The record as it is now; where the key was set free there is none.
Task<PageReply> Admin::show_resolved(Reference reference) {
  const auto view = co_await store_.find(reference);
  std::string body;
  if (view && *view) {
    append_record(body, **view);
  } else {
    JsonObject record(body);
    record.text("reference", to_hex(reference));
    record.text("state", "absent");
    record.end();
  }
  co_return json_page(std::move(body));
}

Task<PageReply> Admin::refuse_alive(Reference reference) {
  const auto view = co_await store_.find(reference);
  std::chrono::milliseconds left{0};
  if (view && *view) left = (*view)->lease_left;
  Problem problem;
  problem.type = ProblemType::AttemptAlive;
  problem.reference = to_hex(reference);
  problem.retry_after_seconds = static_cast<int>(
      std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(left).count()));
  co_return problem_page(problem);
}

Task<PageReply> Admin::forget(Call call) {
  AuditEntry entry;
  entry.action = "forget";
  entry.tenant = call.subject;
  if (const std::string wrong = read_author(call.target, entry); !wrong.empty()) {
    co_return bad_request(wrong);
  }
  const auto forgotten = co_await store_.forget(call.subject);
  entry.result = forgotten ? "done" : name(forgotten.error());
  if (forgotten) entry.forgotten = *forgotten;
  audit_.write(entry);
  if (!forgotten) co_return failed(StoreOperation::Forget, forgotten.error());
  std::string body;
  JsonObject object(body);
  object.number("forgotten", *forgotten);
  object.end();
  co_return json_page(std::move(body));
}

Task<PageReply> Admin::acknowledge(Call call) {
  AuditEntry entry;
  entry.action = "acknowledge";
  if (const std::string wrong = read_author(call.target, entry); !wrong.empty()) {
    co_return bad_request(wrong);
  }
  const auto was_suspect = co_await store_.acknowledge();
  if (was_suspect) {
    entry.result = *was_suspect ? "done" : "not_suspect";
  } else {
    entry.result = name(was_suspect.error());
  }
  audit_.write(entry);
  if (!was_suspect) co_return fault_page(was_suspect.error());
  std::string body;
  JsonObject object(body);
  object.truth("was_suspect", *was_suspect);
  object.end();
  co_return json_page(std::move(body));
}

Task<PageReply> Admin::events(Call call) {
  co_return co_await feed_.answer(std::move(call.request), std::move(call.target));
}

Task<> Admin::end_streams() {
  feed_.drain();
  co_await feed_.ended(kStreamEnd);
}

Task<PageReply> Admin::reload(Call call) {
  AuditEntry entry;
  entry.action = "reload";
  entry.acknowledged = call.target.all("acknowledge");
  if (const std::string wrong = read_author(call.target, entry); !wrong.empty()) {
    co_return bad_request(wrong);
  }
  const ReloadReport report = co_await reload_(entry.acknowledged);
  entry.result = report.done ? "done" : "refused";
  audit_.write(entry);
  if (!report.done) co_return problem_page(ProblemType::ReloadRefused, report.text);
  std::string body;
  JsonObject object(body);
  object.truth("reloaded", true);
  object.text("text", report.text);
  object.end();
  co_return json_page(std::move(body));
}

}  // namespace semel::proxy
