// What the scripts in stores/redis answer, in the words of the store. Nothing here decides.
#include "stores/redis_told.h"

#include <algorithm>

#include "stores/record_codec.h"

namespace semel {
namespace {

/// What the script itself refuses, or what it met half-way.
Fault fault_of(const RedisReply& error) {
  if (error.code() == "SEMELCORRUPT") return Fault::RecordCorrupt;
  if (error.code() == "SEMELSPENT") return Fault::StoreFull;
  return Fault::StoreTimeout;
}

template <class Id>
Id id_of_bytes(const std::string& bytes) {
  Id id;
  std::copy_n(bytes.begin(), std::min(bytes.size(), id.bytes.size()), id.bytes.begin());
  return id;
}

Reference reference_at(const RedisTold& told, std::size_t at) {
  return id_of_bytes<Reference>(told.text(at));
}

Result<ClaimReply> completed(const RedisTold& told) {
  auto response = decode_response(told.text(1));
  if (!response) return response.error();
  return ClaimReply(Completed{reference_at(told, 0), *std::move(response)});
}

ClaimReply indeterminate(const RedisTold& told) {
  Indeterminate unknown;
  unknown.reference = reference_at(told, 0);
  unknown.reason = static_cast<IndeterminateReason>(told.number(1));
  const auto status = static_cast<std::uint16_t>(told.number(2));
  if (status != 0) unknown.upstream_status = status;
  return unknown;
}

ClaimReply abandoned(const RedisTold& told) {
  return Abandoned{id_of_bytes<ClaimToken>(told.text(0)),
                   Fence{static_cast<std::uint64_t>(told.number(1))}, reference_at(told, 2),
                   static_cast<Policy>(told.number(3))};
}

Fault refused(const RedisTold& told) {
  if (told.is("corrupt")) return Fault::RecordCorrupt;
  // Without its marker it is no store: what it held is gone.
  if (told.is("suspect") || told.is("unmarked")) return Fault::StoreSuspect;
  if (told.is("late") || told.is("unmet") || told.is("ghosts")) return Fault::StoreUnreachable;
  return Fault::StoreTimeout;
}

}  // namespace

Result<RedisTold> RedisTold::read(RedisReply reply) {
  using Kind = RedisReply::Kind;
  if (reply.is_error()) return fault_of(reply);
  auto& items = reply.items;
  const bool fits = reply.kind == Kind::Array && items.size() >= 3 &&
                    items[0].kind == Kind::Integer && items[1].kind == Kind::Integer &&
                    items[2].kind == Kind::Text;
  if (!fits) return Fault::StoreTimeout;
  RedisTold told;
  told.time_ = server_time(items[0].integer);
  if (items[1].integer == 1) told.news_ = ClockNews::Settled;
  if (items[1].integer == 2) told.news_ = ClockNews::LateOrLeapt;
  told.word_ = std::move(items[2].text);
  told.items_.assign(std::move_iterator(items.begin() + 3), std::move_iterator(items.end()));
  return told;
}

const std::string& RedisTold::text(std::size_t at) const {
  static const std::string none;
  return at < items_.size() ? items_[at].text : none;
}

std::string RedisTold::take(std::size_t at) {
  return at < items_.size() ? std::move(items_[at].text) : std::string();
}

std::int64_t RedisTold::number(std::size_t at) const {
  if (at >= items_.size()) return 0;
  const RedisReply& item = items_[at];
  if (item.kind == RedisReply::Kind::Integer) return item.integer;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(item.text.data(), item.text.data() + item.text.size(), value);
  return error == std::errc() && end == item.text.data() + item.text.size() ? value : 0;
}

Result<ClaimReply> claim_reply(const RedisTold& told) {
  if (told.is("granted")) {
    return ClaimReply(
        Granted{Fence{static_cast<std::uint64_t>(told.number(0))}, told.number(1) == 1});
  }
  if (told.is("held")) {
    return ClaimReply(Held{reference_at(told, 0), std::chrono::milliseconds(told.number(1))});
  }
  if (told.is("completed")) return completed(told);
  if (told.is("indeterminate")) return indeterminate(told);
  if (told.is("abandoned")) return abandoned(told);
  if (told.is("caller")) return ClaimReply(CallerDiffers{});
  if (told.is("payload")) return ClaimReply(PayloadDiffers{reference_at(told, 0)});
  return refused(told);
}

Result<WriteReply> write_reply(const RedisTold& told) {
  if (told.is("done")) return WriteReply::Done;
  if (told.is("stale")) return WriteReply::Stale;
  if (told.is("done against word")) return WriteReply::DoneAgainstWord;
  if (told.is("stale against word")) return WriteReply::StaleAgainstWord;
  return refused(told);
}

Result<ResolveReply> resolve_reply(const RedisTold& told) {
  if (told.is("done")) return ResolveReply::Done;
  if (told.is("not found")) return ResolveReply::NotFound;
  if (told.is("not unknown")) return ResolveReply::NotUnknown;
  if (told.is("alive")) return ResolveReply::AttemptAlive;
  return refused(told);
}

std::string in_microseconds(StoreTime time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace semel
