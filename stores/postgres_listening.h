#pragma once

#include <memory>

#include "stores/key_waits.h"
#include "stores/pg_links.h"
#include "stores/postgres_meeting.h"

namespace semel::postgres {

/// Has each new connection met before a call uses it.
[[nodiscard]] PgAdmission admission(const std::shared_ptr<Meeting>& meeting);
/// Wakes those who wait for claims that end in other processes.
[[nodiscard]] PgListening listening(std::shared_ptr<KeyWaits> waits);

}  // namespace semel::postgres
