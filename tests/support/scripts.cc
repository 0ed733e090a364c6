#include "tests/support/scripts.h"

#include <algorithm>

namespace semel::testing {

std::string response_text(int status, std::string_view body, const HeaderLines& headers) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " Scripted\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  if (status != 204 && status != 304) {
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  }
  return text + "\r\n" + std::string(body);
}

Script commits_and_answers(int status, std::string body, HeaderLines headers) {
  return commits_and_sends(response_text(status, body, headers), Then::Keep);
}

Script commits_and_answers_after(milliseconds delay, int status, std::string body) {
  return [delay, text = response_text(status, body)](Turn& turn) {
    turn.commit();
    turn.wait(delay);
    turn.send(text);
  };
}

Script answers(int status, std::string body) {
  return [text = response_text(status, body)](Turn& turn) { turn.send(text); };
}

Script commits_and_hangs() { return commits_and_sends("", Then::Hang); }

Script commits_and_sends(std::string bytes, Then then) {
  return [bytes = std::move(bytes), then](Turn& turn) {
    turn.commit();
    turn.send(bytes);
    switch (then) {
      case Then::Keep:
        return;
      case Then::Finish:
        return turn.finish();
      case Then::Reset:
        return turn.reset();
      case Then::Hang:
        return turn.hang();
    }
  };
}

Script one_after_another(std::vector<Script> scripts) {
  return [scripts = std::move(scripts)](Turn& turn) {
    const auto index = static_cast<std::size_t>(turn.number()) - 1;
    scripts[std::min(index, scripts.size() - 1)](turn);
  };
}

}  // namespace semel::testing
