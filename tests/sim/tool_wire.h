#pragma once

#include <map>

#include "tests/sim/http.h"
#include "tests/sim/world.h"

namespace semel::sim {

/// Overhears what the proxies send to the tool: the moment at which the first byte of a request
/// leaves is where a call stops being harmless.
class ToolWire {
 public:
  explicit ToolWire(World& world) : world_(world) {}

  void sent(const EndPtr& proxy_end, std::string_view bytes);
  /// What a client meant by the calls that were claimed as this; kNone: none was ever forwarded.
  [[nodiscard]] std::uint32_t key_of(std::uint32_t record) const;

 private:
  struct Line {
    MessageReader request;
    std::size_t noted = 0;  ///< Where in the history.
    bool is_named = false;
  };
  void name(const EndPtr& proxy_end, Line& line);

  World& world_;
  std::map<std::uint32_t, Line> lines_;
  std::map<std::uint32_t, std::uint32_t> keys_;  ///< By record.
};

}  // namespace semel::sim
