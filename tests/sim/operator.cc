#include "tests/sim/operator.h"

#include "tests/sim/tool.h"

namespace semel::sim {
namespace {

using std::chrono::milliseconds;

}  // namespace

Operator::Operator(World& world, const ToolWire& wire)
    : world_(world), wire_(wire), dice_(world.plan.dice.fork()) {}

void Operator::begin() {
  world_.timeline.after(dice_.between(milliseconds(200), milliseconds(900)), [this] {
    if (world_.is_over()) return;
    if (world_.store().is_up()) look();
    begin();
  });
}

void Operator::look() {
  ListFilter filter;
  filter.state = RecordView::State::Indeterminate;
  const auto page = world_.store().list(filter);
  if (page.has_error()) return;
  for (const RecordView& record : page->records) {
    if (dice_.chance(500)) resolve(record);
  }
  if (!quoted_.empty() && dice_.chance(100)) {
    Resolution late;
    late.decision =
        dice_.chance(500) ? Resolution::Decision::Happened : Resolution::Decision::DidNotHappen;
    // Of an attempt that was ruled on before: it must change nothing.
    const Reference& old = quoted_[dice_.below(quoted_.size())];
    static_cast<void>(world_.store().resolve(old, late));
  }
}

/// Effects of this key since this attempt was granted are its own: nobody else held the key.
bool Operator::happened_since_grant(const RecordView& record, std::uint32_t key) const {
  const auto& all = world_.history.all();
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    if (at->kind == Kind::Effect && at->key == key) return true;
    const bool is_grant = at->kind == Kind::Granted || at->kind == Kind::Superseded;
    if (is_grant && at->fence == record.fence.value) return false;
  }
  return false;
}

void Operator::resolve(const RecordView& record) {
  const std::uint32_t known = world_.history.record_of(bytes_of(record.key));
  const std::uint32_t key = wire_.key_of(known);
  Resolution resolution;
  if (key != Happening::kNone && happened_since_grant(record, key)) {
    resolution.decision = Resolution::Decision::Happened;
    if (dice_.chance(500)) {
      StoredResponse response;
      response.status = 200;
      response.fields.push_back({"Content-Type", "application/json"});
      response.body = "{\"ruled\":" + std::to_string(record.fence.value) + "}";
      resolution.response = std::make_shared<const StoredResponse>(std::move(response));
    }
  } else if (key != Happening::kNone && world_.tool().may_yet(key)) {
    return;  // Nobody can know yet.
  } else {
    resolution.decision = Resolution::Decision::DidNotHappen;
  }
  const auto reply = world_.store().resolve(record.reference, resolution);
  if (reply.has_value() && *reply == ResolveReply::Done) quoted_.push_back(record.reference);
}

}  // namespace semel::sim
