#include "core/fault.h"

namespace semel {

std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::StoreUnreachable:
      return "store_unreachable";
    case Fault::StoreTimeout:
      return "store_timeout";
    case Fault::StoreFull:
      return "store_full";
    case Fault::StoreSuspect:
      return "store_suspect";
    case Fault::StoreBroken:
      return "store_broken";
    case Fault::RecordCorrupt:
      return "record_corrupt";
    case Fault::EventCorrupt:
      return "event_corrupt";
  }
  return "unknown";
}

}  // namespace semel
