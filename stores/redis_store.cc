// The operations on one record: what the scripts in stores/redis are asked, and what their words
// mean. Nothing here decides what becomes of a record; that is theirs alone.
#include "stores/redis_store.h"

#include <algorithm>
#include <utility>

#include "stores/record_codec.h"
#include "stores/redis_record.h"
#include "stores/redis_scripts.h"

namespace semel {
namespace {

/// Numbers at the server are exact below 2^53: longer than this is as good as for ever.
constexpr std::chrono::seconds kSpanMax{std::int64_t{1} << 50};
constexpr std::chrono::milliseconds kLeaseMax{std::int64_t{1} << 40};

std::string in_words(std::chrono::seconds span) {
  return std::to_string(std::min(span, kSpanMax).count());
}

std::string in_words(std::optional<std::chrono::seconds> span) {
  return span ? in_words(*span) : "-1";
}

std::string in_words(Policy policy) { return std::to_string(static_cast<int>(policy)); }
std::string in_words(Fence fence) { return std::to_string(fence.value); }

/// A digest that binds nothing takes no room.
template <class Tag>
std::string bound(const Digest<Tag>& digest) {
  return digest == Digest<Tag>{} ? std::string() : raw(digest);
}

void append(std::vector<std::string>& words, const Bindings& bindings) {
  words.push_back(raw(bindings.caller));
  words.push_back(bound(bindings.guards));
  words.push_back(bound(bindings.fingerprint));
}

void append(std::vector<std::string>& words, const ClaimRequest& request,
            const Attempt& abandoned) {
  words.push_back(raw(request.token));
  words.push_back(raw(request.reference));
  append(words, request.bindings);
  words.push_back(in_words(request.policy));
  words.push_back(in_microseconds(std::min(request.lease, kLeaseMax)));
  words.push_back(in_words(request.retention));
  words.push_back(in_words(request.indeterminate_retention));
  words.push_back(request.tenant);
  words.push_back(request.route);
  words.push_back(abandoned.token == ClaimToken{} ? std::string() : raw(abandoned.token));
  words.push_back(in_words(abandoned.fence));
  for (const ClaimToken& token : request.disowned) words.push_back(raw(token));
}

/// An answer, the same as a forgotten tenant's record may keep it, and its status.
void append(std::vector<std::string>& words, const StoredResponse& response) {
  words.push_back(encode_response(response));
  words.push_back(encode_response(*without_payload(response)));
  words.push_back(std::to_string(response.status));
}

}  // namespace

Task<Result<RedisTold>> RedisStore::ask(const RedisScript& script, std::size_t lane,
                                        std::vector<std::string> keys,
                                        std::vector<std::string> words, StoreTime not_after) {
  const auto until = deadline_from(std::chrono::steady_clock::now());
  return ask_until(until, script, lane, std::move(keys), std::move(words), not_after);
}

Task<Result<RedisTold>> RedisStore::ask_until(std::chrono::steady_clock::time_point until,
                                              const RedisScript& script, std::size_t lane,
                                              std::vector<std::string> keys,
                                              std::vector<std::string> words, StoreTime not_after) {
  if (closed_) co_return Fault::StoreUnreachable;
  const auto asked = meeting_->boot();
  auto reply =
      co_await links_.run_until(until, script, lane, std::move(keys), std::move(words), not_after);
  auto told = meeting_->hear(lane, std::move(reply), asked);
  // A call may have lain somewhere for long, but no answer comes from later than now.
  if (told && told->is_late_or_leapt() && told->time() > meeting_->clock(lane).latest()) {
    co_await doubt(until, lane);
  }
  co_return told;
}

Task<void> RedisStore::doubt(std::chrono::steady_clock::time_point until, std::size_t lane) {
  auto keys = meeting_->names(lane).own();
  auto words = meeting_->beginning(lane);
  // Where it fails, the next call finds nothing written down and asks for it again.
  static_cast<void>(co_await links_.run_until(until, redis_scripts().doubt, lane, std::move(keys),
                                              std::move(words), StoreTime{0}));
}

std::size_t RedisStore::lane_of(const IdempotencyKey& key) const {
  return redis_lane(key, lanes());
}

Task<Result<ClaimReply>> RedisStore::claim(ClaimRequest request) {
  return take(std::move(request), Attempt{});
}

Task<Result<ClaimReply>> RedisStore::supersede(ClaimRequest request, Attempt abandoned) {
  return take(std::move(request), abandoned);
}

Task<Result<ClaimReply>> RedisStore::take(ClaimRequest request, Attempt abandoned) {
  const std::size_t lane = lane_of(request.key);
  const StoreTime not_after = later(meeting_->clock(lane).now(), request.not_after);
  const auto shared = std::make_shared<const ClaimRequest>(std::move(request));
  const auto until = deadline_from(shared->asked.value_or(std::chrono::steady_clock::now()));
  if (!shared->earlier.empty()) {
    auto stands = co_await look(until, shared);
    if (!stands) co_return stands.error();
    if (*stands) co_return **std::move(stands);
  }
  for (bool is_first = true;; is_first = false) {
    auto words = meeting_->beginning(lane);
    // Before what is known there: another worker may be meeting another store just now.
    auto met = meeting_->met(lane);
    words.push_back(in_microseconds(not_after));
    words.push_back(meeting_->writer());
    words.push_back(meeting_->known_in_words(lane));
    words.push_back(std::move(met));
    append(words, *shared, abandoned);
    auto keys = meeting_->names(lane).with(shared->key);
    const auto told = co_await ask_until(until, redis_scripts().claim, lane, std::move(keys),
                                         std::move(words), not_after);
    if (!told) co_return told.error();
    if (told->is("unmet") && is_first) {
      const auto introduced = co_await meet(until, lane);
      if (!introduced) co_return introduced.error();
      continue;
    }
    auto reply = claim_reply(*told);
    // Told only once it is as durable as the grade says: from now on the store has to know it.
    if (reply && std::holds_alternative<Granted>(*reply)) {
      meeting_->note(lane, std::get<Granted>(*reply).fence);
    }
    co_return reply;
  }
}

Task<Result<std::optional<ClaimReply>>> RedisStore::look(
    std::chrono::steady_clock::time_point until, std::shared_ptr<const ClaimRequest> request) {
  const auto& earlier = request->earlier;
  // Those that follow each other in one lane are one question.
  for (auto at = earlier.begin(); at != earlier.end();) {
    const std::size_t lane = lane_of(at->key);
    auto keys = meeting_->names(lane).own();
    auto words = meeting_->beginning(lane);
    words.push_back(in_words(request->policy));
    words.push_back(in_words(request->retention));
    words.push_back(in_words(request->indeterminate_retention));
    for (; at != earlier.end() && lane_of(at->key) == lane; ++at) {
      keys.push_back(meeting_->names(lane).records() + raw(at->key));
      append(words, at->bindings);
    }
    const auto told =
        co_await ask_until(until, redis_scripts().look, lane, std::move(keys), std::move(words));
    if (!told) co_return told.error();
    if (told->is("free")) continue;
    auto reply = claim_reply(*told);
    if (!reply) co_return reply.error();
    co_return std::optional(*std::move(reply));
  }
  co_return std::optional<ClaimReply>();
}

Task<Result<void>> RedisStore::meet(std::chrono::steady_clock::time_point until, std::size_t lane) {
  auto keys = meeting_->names(lane).own();
  auto words = meeting_->question(lane, "");
  const auto told =
      co_await ask_until(until, redis_scripts().meet, lane, std::move(keys), std::move(words));
  if (!told) co_return told.error();
  co_return meeting_->take(lane, *told);
}

Task<Result<WriteReply>> RedisStore::record(Attempt attempt, StoredResponsePtr response) {
  const std::size_t lane = lane_of(attempt.key);
  auto keys = meeting_->names(lane).with(attempt.key);
  auto words = meeting_->beginning(lane);
  words.push_back(raw(attempt.token));
  words.push_back(in_words(attempt.fence));
  append(words, *response);
  const RedisScript& script =
      response->kept == BodyKept::Kept ? redis_scripts().record : redis_scripts().record_bare;
  const auto told = co_await ask(script, lane, std::move(keys), std::move(words));
  if (!told) co_return told.error();
  co_return write_reply(*told);
}

Task<Result<WriteReply>> RedisStore::release(Attempt attempt) {
  const std::size_t lane = lane_of(attempt.key);
  auto keys = meeting_->names(lane).with(attempt.key);
  auto words = meeting_->beginning(lane);
  words.push_back(raw(attempt.token));
  words.push_back(in_words(attempt.fence));
  words.push_back(in_microseconds(links_.ghosts_until(lane)));
  const auto told = co_await ask(redis_scripts().release, lane, std::move(keys), std::move(words));
  if (!told) co_return told.error();
  co_return write_reply(*told);
}

Task<Result<WriteReply>> RedisStore::mark_indeterminate(
    Attempt attempt, IndeterminateReason reason, std::optional<std::uint16_t> upstream_status) {
  const std::size_t lane = lane_of(attempt.key);
  auto keys = meeting_->names(lane).with(attempt.key);
  auto words = meeting_->beginning(lane);
  words.push_back(raw(attempt.token));
  words.push_back(in_words(attempt.fence));
  words.push_back(std::to_string(static_cast<int>(reason)));
  words.push_back(std::to_string(upstream_status.value_or(0)));
  const auto told = co_await ask(redis_scripts().mark, lane, std::move(keys), std::move(words));
  if (!told) co_return told.error();
  co_return write_reply(*told);
}

Task<Result<std::optional<RecordView>>> RedisStore::find(IdempotencyKey key) {
  return shown(key, std::string());
}

Task<Result<std::optional<RecordView>>> RedisStore::find(Reference reference) {
  const auto key = co_await locate(reference);
  if (!key) co_return key.error();
  if (!*key) co_return std::optional<RecordView>();
  co_return co_await shown(**key, raw(reference));
}

Task<Result<std::optional<RecordView>>> RedisStore::shown(IdempotencyKey key,
                                                          std::string reference) {
  const std::size_t lane = lane_of(key);
  auto keys = meeting_->names(lane).with(key);
  auto words = meeting_->beginning(lane);
  words.push_back(std::move(reference));
  const auto told = co_await ask(redis_scripts().find, lane, std::move(keys), std::move(words));
  if (!told) co_return told.error();
  if (told->is("absent")) co_return std::optional<RecordView>();
  if (!told->is("found")) co_return Fault::RecordCorrupt;
  const auto record = decode_redis_record(told->text(0));
  if (!record) co_return record.error();
  const std::int64_t end = told->number(1);
  RecordView view =
      record->view_at(told->time(), end < 0 ? std::nullopt : std::optional(server_time(end)));
  view.key = key;
  if (view.state == RecordView::State::Completed) {
    const std::string_view answer = told->text(0);
    auto response = decode_response(answer.substr(record->header_bytes));
    if (!response) co_return response.error();
    view.response = *std::move(response);
  }
  co_return std::optional(std::move(view));
}

Task<Result<std::optional<IdempotencyKey>>> RedisStore::locate(Reference reference) {
  for (std::size_t lane = 0; lane < lanes(); ++lane) {
    auto keys = meeting_->names(lane).own();
    auto words = meeting_->beginning(lane);
    words.push_back(raw(reference));
    const auto told = co_await ask(redis_scripts().locate, lane, std::move(keys), std::move(words));
    if (!told) co_return told.error();
    IdempotencyKey key;
    if (!told->is("found")) continue;
    const std::string& bytes = told->text(0);
    if (bytes.size() != key.bytes.size()) co_return Fault::RecordCorrupt;
    std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
    co_return std::optional(key);
  }
  co_return std::optional<IdempotencyKey>();
}

Task<Result<ResolveReply>> RedisStore::resolve(Reference reference, Resolution resolution) {
  const auto key = co_await locate(reference);
  if (!key) co_return key.error();
  if (!*key) co_return ResolveReply::NotFound;
  const std::size_t lane = lane_of(**key);
  auto keys = meeting_->names(lane).with(**key);
  const bool happened = resolution.decision == Resolution::Decision::Happened;
  const StoredResponsePtr response =
      resolution.response ? resolution.response : without_payload(StoredResponse{});
  auto words = meeting_->beginning(lane);
  words.push_back(raw(reference));
  words.emplace_back(happened ? "1" : "0");
  append(words, *response);
  const bool brings_payload = happened && response->kept == BodyKept::Kept;
  const RedisScript& script =
      brings_payload ? redis_scripts().resolve : redis_scripts().resolve_bare;
  const auto told = co_await ask(script, lane, std::move(keys), std::move(words));
  if (!told) co_return told.error();
  co_return resolve_reply(*told);
}

Task<void> RedisStore::await_change(IdempotencyKey key,
                                    std::chrono::steady_clock::time_point until) {
  return waits_->wait(key, until);
}

}  // namespace semel
