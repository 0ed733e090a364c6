#pragma once

#include <string>

#include "tests/sim/tool.h"

namespace semel::sim {

/// One connection to the tool, and the request that it is about.
struct Tool::Caller {
  EndPtr end;
  MessageReader request;
  std::string outbox;  ///< What the connection has no room for yet.
  std::uint32_t call = Happening::kNone;
  std::uint32_t key = Happening::kNone;
  std::uint32_t record = Happening::kNone;
  std::uint64_t fence = 0;
  bool is_decided = false;  ///< The request is whole, and what comes of it is planned.
  bool goes_after = false;  ///< It ends once the outbox is empty,
  bool resets = false;      ///< and then with a reset.
};

}  // namespace semel::sim
