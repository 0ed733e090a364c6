#pragma once

#include <cstdint>

#include "stores/record.h"
#include "stores/slab.h"

namespace semel {

/// The neighbours of a record in its line of a DueQueue.
struct DueLink {
  enum class Place : std::uint8_t { Nowhere, Line, Straggler };
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
