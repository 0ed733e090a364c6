#pragma once

#include <cstdint>

#include "stores/record.h"
#include "stores/slab.h"

namespace semel {

/// Where a record waits in a DueQueue, and its neighbours if that is a line.
struct DueLink {
  enum class Place : std::uint8_t { Nowhere, Line, Straggler, Postponed };
  Slot previous = kNoSlot;
  Slot next = kNoSlot;
  Place place = Place::Nowhere;
};

/// One record with its key, and with what the ledger notes about it.
struct LedgerEntry {
  IdempotencyKey key;
  Record record;
  DueLink due;
  bool noted = false;  ///< Since the last commit: what it was then is among the changes.
};

}  // namespace semel
