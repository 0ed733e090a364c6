#include "examples/booking_desk.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "examples/json_members.h"

namespace semel::examples {
namespace {

constexpr std::string_view kControlWords =
    "reset, delay_ms, status, mode: ok, status, hang_after_commit or close_after_commit";

std::optional<int> parse_int(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool apply_number(std::string_view name, std::string_view text, Behaviour& behaviour) {
  const auto number = parse_int(text);
  if (!number) return false;
  if (name == "delay" && *number >= 0) {
    behaviour.delay = std::chrono::milliseconds(*number);
    return true;
  }
  if (name == "status" && *number >= 200 && *number <= 599) {
    behaviour.ending = Ending::Status;
    behaviour.status = *number;
    return true;
  }
  return false;
}

bool apply_word(std::string_view word, Behaviour& behaviour) {
  if (const auto equals = word.find('='); equals != std::string_view::npos) {
    return apply_number(word.substr(0, equals), word.substr(equals + 1), behaviour);
  }
  if (word == "ok") {
    behaviour.ending = Ending::Answer;
  } else if (word == "hang" || word == "hang_after_commit") {
    behaviour.ending = Ending::HangAfterCommit;
  } else if (word == "close" || word == "close_after_commit") {
    behaviour.ending = Ending::CloseAfterCommit;
  } else {
    return false;
  }
  return true;
}

Response json(int status, std::string body) {
  body += '\n';
  return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

Response refusal(int status, std::string_view sentence) {
  return json(status, "{\"error\":\"" + std::string(sentence) + "\"}");
}

}  // namespace

std::optional<Behaviour> parse_behaviour(std::string_view words, Behaviour base) {
  while (!words.empty()) {
    const auto comma = words.find(',');
    std::string_view word = words.substr(0, comma);
    word.remove_prefix(std::min(word.find_first_not_of(' '), word.size()));
    if (!apply_word(word, base)) return std::nullopt;
    words = comma == std::string_view::npos ? std::string_view{} : words.substr(comma + 1);
  }
  return base;
}

Outcome BookingDesk::answer(const Request& request) {
  const std::lock_guard lock(mutex_);
  const std::string_view target = request.target;
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/effects") {
    return {request.method == "GET" ? effects() : refusal(405, "GET reads the counters")};
  }
  if (request.method != "POST") return {refusal(405, "the tools are called with POST")};
  if (path == "/control") return {control(request.body)};
  if (path == "/tools/book") return call_tool(kBook, request);
  if (path == "/tools/seat") return call_tool(kSeat, request);
  if (path == "/tools/fare") return call_tool(kFare, request);
  return {refusal(404, "no such tool: book, seat or fare")};
}

Outcome BookingDesk::call_tool(Tool tool, const Request& request) {
  Tally& tally = tallies_[tool];
  ++tally.calls;
  const auto asked =
      parse_behaviour(request.header("X-Example-Behaviour").value_or(""), behaviour_);
  if (!asked) return {refusal(400, "X-Example-Behaviour: delay=MS, status=N, hang or close")};
  const bool refuses = asked->ending == Ending::Status && asked->status < 500;
  if (refuses) return {refusal(asked->status, "as asked"), Ending::Answer, asked->delay};

  const auto members = split_members(request.body);
  if (!members) return {refusal(400, "the body is one JSON object")};
  const auto text = [&](std::string_view name) {
    const auto found = members->find(name);
    return found == members->end() ? std::string() : found->second;
  };
  const std::string subject = text(tool == kSeat ? "booking_ref" : "flight");
  if (subject.empty()) {
    return {refusal(422, tool == kSeat ? "booking_ref is missing" : "flight is missing")};
  }

  Response response;
  if (tool == kBook) {
    response = book(subject);
  } else if (tool == kSeat) {
    if (text("seat").empty()) return {refusal(422, "seat is missing")};
    response = set_seat(subject, text("seat"));
  } else {
    response = json(200, "{\"flight\":" + subject + ",\"amount\":\"129.00\",\"currency\":\"EUR\"}");
  }
  if (asked->ending == Ending::Status) response = refusal(asked->status, "failed after the work");
  return {std::move(response), asked->ending, asked->delay};
}

Response BookingDesk::book(const std::string& flight) {
  const std::string number = std::to_string(++tallies_[kBook].effects);
  const std::string reference =
      "BK-" + std::string(number.size() < 6 ? 6 - number.size() : 0, '0') + number;
  Response response =
      json(201, "{\"booking_ref\":\"" + reference + "\",\"flight\":" + flight + "}");
  response.headers.push_back({"Location", "/bookings/" + reference});
  response.headers.push_back({"Link", "</bookings/" + reference + ">; rel=\"self\""});
  response.headers.push_back({"Link", "</bookings/" + reference + "/receipt>; rel=\"related\""});
  return response;
}

Response BookingDesk::set_seat(const std::string& booking, const std::string& seat) {
  std::string& taken = seats_[booking];
  if (taken != seat) ++tallies_[kSeat].effects;
  taken = seat;
  return json(200, "{\"booking_ref\":" + booking + ",\"seat\":" + seat + "}");
}

Response BookingDesk::control(std::string_view body) {
  const auto members = split_members(body);
  if (!members) return refusal(400, "the body is one JSON object");
  Behaviour next = behaviour_;
  if (members->contains("reset")) {
    next = {};
    tallies_ = {};
    seats_.clear();
  }
  for (const auto& [name, value] : *members) {
    bool is_known = true;
    if (name == "delay_ms") {
      is_known = apply_number("delay", value, next);
    } else if (name == "status") {
      is_known = apply_number("status", value, next);
    } else if (name == "mode" && value != "\"status\"") {
      is_known = value.size() > 2 && apply_word(value.substr(1, value.size() - 2), next);
    } else {
      is_known = name == "reset" || (name == "mode" && members->contains("status"));
    }
    if (!is_known) return refusal(400, kControlWords);
  }
  behaviour_ = next;
  return json(200, "{\"ok\":true}");
}

Response BookingDesk::effects() const {
  static constexpr std::array<std::string_view, kToolCount> kNames{"book", "seat", "fare"};
  std::string body = "{";
  for (std::size_t tool = 0; tool < kToolCount; ++tool) {
    if (tool > 0) body += ',';
    body.append("\"").append(kNames[tool]).append("\":{\"calls\":");
    body.append(std::to_string(tallies_[tool].calls)).append(",\"effects\":");
    body.append(std::to_string(tallies_[tool].effects)).append("}");
  }
  return json(200, body + '}');
}

}  // namespace semel::examples
