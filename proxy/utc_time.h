#pragma once

#include <chrono>
#include <string>

namespace semel::proxy {

/// Appends `2026-11-30T18:52:29.123Z` (RFC 3339).
void append_utc(std::string& out, std::chrono::system_clock::time_point when);

}  // namespace semel::proxy
