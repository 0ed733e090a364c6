#pragma once

#include <cstdint>
#include <string_view>

namespace semel {

/// News from the environment. Each says what the caller may then assume about the world.
enum class Fault : std::uint8_t {
  StoreUnreachable,  ///< Nothing was asked, or it was refused whole: the world is as before.
  StoreTimeout,      ///< No answer in time: the operation MAY have been carried out.
  StoreFull,         ///< No room: nothing was changed. Heals by itself once there is room.
  StoreSuspect,      ///< It may have lost records: nothing is taken before an operator's word.
  StoreBroken,       ///< A write or fsync failed: down until the store is opened and read again.
  RecordCorrupt,     ///< What is stored under this key cannot be read: the key is unusable.
  EventCorrupt,      ///< The next event of the transition log cannot be read: it ends there.
};

/// The fault's name in logs and metrics, in `snake_case`.
[[nodiscard]] std::string_view name(Fault fault);

}  // namespace semel
