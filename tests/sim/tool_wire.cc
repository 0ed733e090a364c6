#include "tests/sim/tool_wire.h"

#include "tests/sim/tool.h"

namespace semel::sim {

void ToolWire::sent(const EndPtr& proxy_end, std::string_view bytes) {
  Line& line = lines_[proxy_end->line];
  if (!line.request.has_begun()) {
    const Process* process = Process::current();
    Happening noted = world_.happening(Kind::Dispatched);
    noted.proxy = proxy_end->process;
    noted.excused = process != nullptr && process->last_pause_began >= process->last_boot_reading;
    line.noted = world_.history.add(noted);
  }
  const auto state = line.request.feed(bytes);
  if (line.request.has_head() && !line.is_named) name(proxy_end, line);
  if (state == MessageReader::State::Whole) line = Line();
}

/// The head is whole: now it is known which call it was.
void ToolWire::name(const EndPtr& proxy_end, Line& line) {
  line.is_named = true;
  const std::uint32_t call = number_in(line.request.field("x-call"));
  Happening& noted = world_.history.amend(line.noted);
  noted.call = call;
  noted.key = world_.call(call).key;
  noted.route = world_.call(call).route;
  noted.fence = number_in(line.request.field("semel-fence"));
  noted.record = world_.record_of_hex(line.request.field("idempotency-key"));
  if (noted.record != Happening::kNone) keys_[noted.record] = noted.key;
  const EndPtr tool_end = proxy_end->peer.lock();
  if (tool_end != nullptr && !tool_end->closed) world_.tool().expect(proxy_end->line, call);
}

std::uint32_t ToolWire::key_of(std::uint32_t record) const {
  const auto found = keys_.find(record);
  return found == keys_.end() ? Happening::kNone : found->second;
}

}  // namespace semel::sim
