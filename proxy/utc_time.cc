#include "proxy/utc_time.h"

#include <ctime>

namespace semel::proxy {

void append_utc(std::string& out, std::chrono::system_clock::time_point when) {
  using std::chrono::floor;
  const auto second = floor<std::chrono::seconds>(when);
  const std::time_t now = std::chrono::system_clock::to_time_t(second);
  // A log writes many lines in one second.
  static thread_local std::time_t made_at = -1;
  static thread_local char text[32];
  if (now != made_at) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    made_at = now;
  }
  const auto ms = floor<std::chrono::milliseconds>(when - second).count();
  const char millis[5] = {'.', static_cast<char>('0' + ms / 100),
                          static_cast<char>('0' + ms / 10 % 10), static_cast<char>('0' + ms % 10),
                          'Z'};
  out.append(text).append(millis, sizeof millis);
}

}  // namespace semel::proxy
