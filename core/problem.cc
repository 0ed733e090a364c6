#include "core/problem.h"

#include <array>

#include "core/check.h"
#include "core/json_object.h"

namespace semel {
namespace {

constexpr auto kSilent = RetryVeto::Silent;
constexpr auto kRetry = RetryVeto::Retry;
constexpr auto kNever = RetryVeto::DoNotRetry;

// The table of spec 8, in the order of ProblemType. docs/http-surface.md says the same to users.
constexpr std::array kRows{
    ProblemRow{ProblemType::InFlight, 409, "in-flight", "Call in flight",
               "The same call is still running: wait as long as Retry-After says, then repeat it "
               "unchanged to get its answer.",
               kRetry},
    ProblemRow{
        ProblemType::Indeterminate, 409, "indeterminate", "Outcome unknown",
        "The outcome of this call is unknown: it may have taken effect. Do not call it again.",
        kNever},
    ProblemRow{
        ProblemType::ResultNotKept, 409, "result-not-kept", "Result not kept",
        "This call has already been carried out, but its answer was not kept: do not call it "
        "again.",
        kNever},
    ProblemRow{
        ProblemType::KeyMissing, 400, "key-missing", "Idempotency key missing",
        "This route requires an Idempotency-Key header: send one that stays the same when the "
        "same call is repeated.",
        kNever},
    ProblemRow{ProblemType::KeyMalformed, 400, "key-malformed", "Idempotency key malformed",
               "Idempotency-Key must be one value of 1 to 255 visible ASCII characters, bare or in "
               "double quotes, without spaces or parameters.",
               kNever},
    ProblemRow{
        ProblemType::KeyUnderivable, 400, "key-underivable", "Key cannot be derived",
        "A value that identifies this call is missing, empty or unreadable: add it and send the "
        "call again.",
        kNever},
    ProblemRow{
        ProblemType::BodyAmbiguous, 400, "body-ambiguous", "Body is ambiguous",
        "The body can be read in more than one way: send strict JSON in UTF-8 with every member "
        "name once.",
        kNever},
    ProblemRow{
        ProblemType::PathAmbiguous, 400, "path-ambiguous", "Path is ambiguous",
        "The path is almost that of a guarded route: use exactly the documented path, with its "
        "upper and lower case and without an extra or missing final slash.",
        kNever},
    ProblemRow{
        ProblemType::KeyReused, 422, "key-reused", "Key reused for another call",
        "This key already belongs to a call with other values: repeat that call unchanged, or "
        "use a new key for a new call.",
        kNever},
    ProblemRow{ProblemType::CallerMismatch, 403, "caller-mismatch", "Another caller's call",
               "This call was first made by another caller, and its answer is not shown to you.",
               kNever},
    ProblemRow{ProblemType::NoRoute, 404, "no-route", "No such route",
               "No route serves this method and path: check the address of the tool.", kNever},
    ProblemRow{ProblemType::Method, 405, "method", "Method not allowed",
               "This path does not accept this method: use one that the Allow header names.",
               kNever},
    ProblemRow{
        ProblemType::ContentType, 415, "content-type", "Content type not supported",
        "The body must be application/json, another +json type or a URL-encoded form, in UTF-8 "
        "and without content coding.",
        kNever},
    ProblemRow{ProblemType::BodyTooLarge, 413, "body-too-large", "Body too large",
               "The body is larger than this route takes: send a smaller one.", kNever},
    ProblemRow{
        ProblemType::RequestTimeout, 408, "request-timeout", "Request not received in time",
        "The request did not arrive completely in time and nothing was sent to the tool: send "
        "it again without pauses.",
        kSilent},
    ProblemRow{
        ProblemType::StoreUnavailable, 503, "store-unavailable", "Store unavailable",
        "The record of earlier calls cannot be reached, so nothing was sent to the tool: repeat "
        "the call as soon as Retry-After says.",
        kRetry},
    ProblemRow{
        ProblemType::StoreSuspect, 503, "store-suspect", "Store suspect",
        "The record of earlier calls may be incomplete, so nothing was sent to the tool: repeat "
        "the call later, once an operator has checked it.",
        kRetry},
    ProblemRow{
        ProblemType::Overloaded, 503, "overloaded", "Overloaded",
        "The proxy is at its limits and nothing was sent to the tool: repeat the call as soon as "
        "Retry-After says.",
        kRetry},
    ProblemRow{
        ProblemType::Draining, 503, "draining", "Shutting down",
        "The proxy is shutting down and nothing was sent to the tool: repeat the call on a new "
        "connection.",
        kRetry},
    ProblemRow{
        ProblemType::UpstreamUnreachable, 502, "upstream-unreachable", "Tool not reached",
        "The tool could not be reached and nothing was sent to it: repeat the call as soon as "
        "Retry-After says.",
        kRetry},
    ProblemRow{ProblemType::UpstreamTimeout, 504, "upstream-timeout", "Tool did not answer in time",
               "The tool did not answer in time: where repeating the call is harmless, repeat it.",
               kRetry},
    ProblemRow{
        ProblemType::UpstreamFailed, 502, "upstream-failed", "Tool's answer was broken off",
        "The tool's answer was cut or malformed: where repeating the call is harmless, repeat it.",
        kRetry},
    ProblemRow{ProblemType::TooManyWaiters, 429, "too-many-waiters", "Too many waiters",
               "Too many callers already wait for this same call: repeat it as soon as Retry-After "
               "says.",
               kRetry},
    ProblemRow{ProblemType::Quota, 429, "quota", "Quota of new calls reached",
               "This tenant has started too many new calls: repeat the call as soon as Retry-After "
               "says.",
               kRetry},
    ProblemRow{ProblemType::Internal, 500, "internal", "Internal error",
               "The proxy failed before anything was sent to the tool: repeat the call.", kRetry},
    ProblemRow{
        ProblemType::BadRequest, 400, "bad-request", "Malformed request",
        "The request is not well-formed HTTP/1.1 and was not sent to the tool: correct it before "
        "you send it again.",
        kNever},
    ProblemRow{ProblemType::UriTooLong, 414, "uri-too-long", "Request line too long",
               "The request line is longer than 8 KiB: send a shorter path and query.", kNever},
    ProblemRow{
        ProblemType::HeadersTooLarge, 431, "headers-too-large", "Headers too large",
        "The headers exceed 100 fields, 8 KiB a line or 32 KiB in all: send fewer or shorter "
        "ones.",
        kNever},
    ProblemRow{ProblemType::NotImplemented, 501, "not-implemented", "Not implemented",
               "The method or the transfer coding is not supported: use an ordinary method and a "
               "Content-Length or plain chunked body.",
               kNever},
    ProblemRow{ProblemType::HttpVersion, 505, "http-version", "HTTP version not supported",
               "Only HTTP/1.1 and HTTP/1.0 are spoken here: send the request in one of them.",
               kNever},
    ProblemRow{
        ProblemType::ExpectationFailed, 417, "expectation-failed", "Expectation failed",
        "Only the expectation 100-continue can be met: send the request without another Expect.",
        kNever},
    ProblemRow{ProblemType::Unauthorized, 401, "unauthorized", "Token missing or wrong",
               "Send the admin token as Authorization: Bearer TOKEN; it stands in admin.token of "
               "the state_dir, or in the configuration.",
               kNever},
    ProblemRow{ProblemType::ForeignOrigin, 403, "foreign-origin", "Not for pages of other origins",
               "Requests with an Origin come from a web page and are not taken here.", kNever},
    ProblemRow{ProblemType::Misdirected, 421, "misdirected", "Not this listener's name",
               "The Host of the request is not the address of the admin listener: use the address "
               "of the configuration.",
               kNever},
    ProblemRow{ProblemType::NoRecord, 404, "no-record", "No such record",
               "No record has this reference: its window may have ended, or a later attempt has "
               "taken its key.",
               kNever},
    ProblemRow{ProblemType::NotCurrent, 409, "not-current", "Attempt no longer current",
               "No record has this reference now, so nothing was changed: list the records again.",
               kNever},
    ProblemRow{ProblemType::NotIndeterminate, 409, "not-indeterminate", "Outcome is known",
               "The outcome of this call is not unknown, so there is nothing to resolve.", kNever},
    ProblemRow{ProblemType::AttemptAlive, 409, "attempt-alive", "Attempt may still be running",
               "The attempt may still take effect: say that it did not happen once Retry-After "
               "has passed.",
               kRetry},
    ProblemRow{ProblemType::RecordUnreadable, 500, "record-unreadable", "Record unreadable",
               "What is stored under this reference cannot be read; its key stays taken.", kNever},
    ProblemRow{ProblemType::ReloadRefused, 409, "reload-refused", "Reload refused",
               "The configuration was not taken and the old one runs on.", kNever},
    ProblemRow{
        ProblemType::EventsGone, 410, "events-gone", "Events no longer kept",
        "Events behind this position are no longer kept: list the records, and read on after "
        "the position that oldest names.",
        kNever},
    ProblemRow{ProblemType::EventUnreadable, 500, "event-unreadable", "Event unreadable",
               "The next event of the transition log is damaged: list the records, and ask again "
               "once the log keeps it no longer.",
               kNever},
};

constexpr bool rows_stand_in_order() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].type) != i) return false;
  }
  return true;
}
static_assert(rows_stand_in_order(), "kRows must list ProblemType in its own order, without gaps");
static_assert(kRows.size() == static_cast<std::size_t>(ProblemType::EventUnreadable) + 1);

/// Stripe's word for the kind of error: its SDKs choose an exception class by it.
std::string_view error_type(const ProblemRow& row) {
  switch (row.type) {
    case ProblemType::InFlight:
    case ProblemType::Indeterminate:
    case ProblemType::ResultNotKept:
    case ProblemType::KeyMissing:
    case ProblemType::KeyMalformed:
    case ProblemType::KeyUnderivable:
    case ProblemType::KeyReused:
    case ProblemType::CallerMismatch:
      return "idempotency_error";
    default:
      return row.status >= 500 ? "api_error" : "invalid_request_error";
  }
}

}  // namespace

const ProblemRow& row(ProblemType type) {
  const auto index = static_cast<std::size_t>(type);
  SEMEL_CHECK(index < kRows.size());
  return kRows[index];
}

RetryVeto retry_veto(const Problem& problem) {
  // Only these two may follow a request byte that left: what a repeat does is then the policy's
  // word.
  if (problem.type == ProblemType::UpstreamFailed || problem.type == ProblemType::UpstreamTimeout) {
    if (problem.policy == Policy::None) return RetryVeto::Silent;
    if (problem.policy == Policy::Effectful) return RetryVeto::DoNotRetry;
  }
  return row(problem.type).retry;
}

std::string render_body(const Problem& problem) {
  const ProblemRow& row = semel::row(problem.type);
  const std::string_view detail =
      problem.detail.empty() ? row.detail : std::string_view(problem.detail);
  std::string out;
  out.reserve(512 + 2 * detail.size());
  JsonObject body(out);
  body.text("type", std::string("/problems/").append(row.slug));
  body.text("title", row.title);
  body.number("status", row.status);
  body.text("detail", detail);
  if (problem.reference) body.text("reference", *problem.reference);
  if (const RetryVeto veto = retry_veto(problem); veto != RetryVeto::Silent) {
    body.truth("retryable", veto == RetryVeto::Retry);
  }
  if (problem.dispatched) body.truth("dispatched", *problem.dispatched);
  if (problem.policy != Policy::None) body.text("policy", name(problem.policy));
  if (!problem.route.empty()) body.text("route", problem.route);
  if (problem.upstream_status) body.number("upstream_status", *problem.upstream_status);
  if (problem.original_status) body.number("original_status", *problem.original_status);
  if (problem.oldest) body.text("oldest", *problem.oldest);
  body.begin("error");
  JsonObject error(out);
  error.text("type", error_type(row));
  error.text("code", row.slug);
  error.text("message", detail);
  error.end();
  body.end();
  return out;
}

}  // namespace semel
