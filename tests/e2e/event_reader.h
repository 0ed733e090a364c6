#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/operator.h"

namespace semel::testing {

/// One event as a reader of the stream gets it.
struct SentEvent {
  std::string id;
  std::string kind;
  Json object;
};

/// A reader of the stream of events on a connection of its own, of HTTP/1.0: what comes is the
/// stream as it is.
class EventReader {
 public:
  /// @param last_id  What an earlier reader saw last; empty: nothing.
  explicit EventReader(const OperatedGateway& operated, const std::string& last_id = {})
      : socket_(Socket::connect_to(operated.port(), Deadline(kPatience))), reader_(socket_) {
    std::string request =
        "GET /v1/events HTTP/1.0\r\nHost: 127.0.0.1:" + std::to_string(operated.port()) +
        "\r\nAuthorization: Bearer " + operated.token() + "\r\nAccept: text/event-stream\r\n";
    if (!last_id.empty()) request += "Last-Event-ID: " + last_id + "\r\n";
    static_cast<void>(socket_.send_all(request + "\r\n", Deadline(kPatience)));
    static_cast<void>(reader_.read_head(head_, Deadline(kPatience)));
  }

  [[nodiscard]] const std::string& head() const { return head_; }

  /// Waits for the next event. @return One without an id if the stream ends first.
  [[nodiscard]] SentEvent next() {
    SentEvent event;
    for (std::string line; read_line(line);) {
      const std::size_t colon = std::min(line.find(": "), line.size());
      const std::string name = line.substr(0, colon);
      const std::string value = line.substr(std::min(colon + 2, line.size()));
      if (name == "id") event.id = value;
      if (name == "event") event.kind = value;
      if (name == "data") event.object = Json::parse(value);
      if (line.empty() && !event.id.empty()) return event;
    }
    return {};
  }
  /// Goes away rudely, with what came and was not read.
  void reset() { socket_.reset(); }

 private:
  static constexpr milliseconds kPatience{20'000};

  bool read_line(std::string& line) {
    line.clear();
    if (!reader_.wait_for("\n", Deadline(kPatience))) return false;
    const std::size_t length = reader_.unread().find('\n') + 1;
    static_cast<void>(reader_.read_exactly(length, line, Deadline(kPatience)));
    line.pop_back();
    return true;
  }

  Socket socket_;
  MessageReader reader_;
  std::string head_;
};

/// Everything that the log keeps, read page by page.
inline std::vector<Json> logged_events(const OperatedGateway& operated, std::string after = {}) {
  std::vector<Json> events;
  for (;;) {
    const Response page = operated.ask("GET", "/v1/events?limit=1000&after=" + after);
    EXPECT_EQ(page.status, 200) << page.body;
    const Json read = Json::parse(page.body);
    if (read["events"].items().empty()) return events;
    events.insert(events.end(), read["events"].items().begin(), read["events"].items().end());
    after = read["next"].text();
  }
}

/// The states of the store's records by their reference.
inline std::map<std::string, std::string> recorded_states(const OperatedGateway& operated) {
  std::map<std::string, std::string> states;
  for (std::string after;;) {
    const Response page = operated.ask("GET", "/v1/records?limit=1000&after=" + after);
    EXPECT_EQ(page.status, 200) << page.body;
    const Json read = Json::parse(page.body);
    for (const Json& record : read["records"].items()) {
      states[record["reference"].text()] = record["state"].text();
    }
    if (read["next"].kind() != Json::Kind::String) return states;
    after = read["next"].text();
  }
}

/// The same, from the events alone: what somebody knows who has read all of them and nothing else.
inline std::map<std::string, std::string> told_states(const std::vector<Json>& events) {
  std::map<std::string, std::pair<std::string, std::string>> by_key;  // Reference and state.
  for (const Json& event : events) {
    const std::string& kind = event["kind"].text();
    auto& [reference, state] = by_key[event["key"].text()];
    if (kind != "claimed") {
      EXPECT_EQ(reference, event["reference"].text()) << kind << " of an attempt that is not there";
    }
    reference = event["reference"].text();
    state = kind == "claimed"                                ? "in_flight"
            : kind == "completed" || kind == "indeterminate" ? kind
            : event["decision"].text() == "happened"         ? "completed"
                                                             : "absent";
  }
  std::map<std::string, std::string> states;
  for (const auto& [key, told] : by_key) {
    if (told.second != "absent") states.insert(told);
  }
  return states;
}

}  // namespace semel::testing
