#pragma once

#include <string>
#include <string_view>

#include "tests/support/scripted_upstream.h"

namespace semel::testing {

/// A whole response with a Content-Length. `headers` are given as they are.
[[nodiscard]] std::string response_text(int status, std::string_view body,
                                        const HeaderLines& headers = {
                                            {"Content-Type", "application/json"}});

/// The effect happens and is told at once.
[[nodiscard]] Script commits_and_answers(int status, std::string body,
                                         HeaderLines headers = {
                                             {"Content-Type", "application/json"}});
/// The effect happens at once and is told after `delay`.
[[nodiscard]] Script commits_and_answers_after(milliseconds delay, int status, std::string body);
/// The answer without an effect: a refusal or a read.
[[nodiscard]] Script answers(int status, std::string body);
/// The effect happens; nobody is ever told.
[[nodiscard]] Script commits_and_hangs();

/// How a connection goes on after the last byte.
enum class Then : std::uint8_t { Keep, Finish, Reset, Hang };
/// The effect happens and exactly these bytes are sent.
[[nodiscard]] Script commits_and_sends(std::string bytes, Then then);

/// The n-th request is played by the n-th script, later ones by the last.
[[nodiscard]] Script one_after_another(std::vector<Script> scripts);

}  // namespace semel::testing
