#include "tests/support/counting_tool.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>

#include "tests/support/http_message.h"

namespace semel::testing {
namespace {

constexpr milliseconds kSending{10'000};

}  // namespace

CountingTool::CountingTool(Options options)
    : options_(std::move(options)),
      port_(free_port()),
      listener_(Socket::listen_on(port_)),
      thread_([this] { run(); }) {}

CountingTool::~CountingTool() {
  is_ending_ = true;
  woken_.wake();
  thread_.join();
}

int CountingTool::effects_of(const std::string& run) const {
  const std::lock_guard lock(mutex_);
  const auto at = effects_.find(run);
  return at == effects_.end() ? 0 : at->second;
}

long CountingTool::effects() const {
  const std::lock_guard lock(mutex_);
  return std::accumulate(effects_.begin(), effects_.end(), 0L,
                         [](long sum, const auto& of_run) { return sum + of_run.second; });
}

void CountingTool::run() {
  while (!is_ending_) {
    std::vector<pollfd> entries = {{woken_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    std::vector<Caller*> callers;
    auto first_end = Clock::time_point::max();
    for (Caller& caller : callers_) {
      entries.push_back({caller.socket.fd(), POLLIN, 0});
      callers.push_back(&caller);
      if (options_.idle.count() != 0) {
        first_end = std::min(first_end, caller.idle_since + options_.idle);
      }
    }
    int timeout = -1;
    if (first_end != Clock::time_point::max()) {
      const auto left = std::chrono::ceil<milliseconds>(first_end - Clock::now()).count();
      timeout = static_cast<int>(std::max<milliseconds::rep>(left, 0));
    }
    if (::poll(entries.data(), entries.size(), timeout) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < callers.size(); ++i) {
      Caller& caller = *callers[i];
      if (entries[i + 2].revents != 0) {
        receive(caller);
      } else if (options_.idle.count() != 0 && Clock::now() >= caller.idle_since + options_.idle) {
        caller.is_over = true;
        ++idle_ends_;
      }
    }
    callers_.remove_if([](const Caller& caller) { return caller.is_over; });
    if (entries[1].revents != 0) accept_all();
  }
}

void CountingTool::accept_all() {
  for (;;) {
    Socket socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) return;
    const int yes = 1;
    ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    ++connections_;
    callers_.emplace_back().socket = std::move(socket);
  }
}

void CountingTool::receive(Caller& caller) {
  std::array<char, 16 * 1024> block;
  const ssize_t got = ::recv(caller.socket.fd(), block.data(), block.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    caller.is_over = true;  // What is here of a request is not whole.
    return;
  }
  if (caller.is_used && options_.idle.count() != 0 &&
      Clock::now() - caller.idle_since >= options_.idle * 3 / 4) {
    ++late_uses_;
  }
  caller.is_used = true;
  caller.received.append(block.data(), static_cast<std::size_t>(got));
  serve(caller);
  caller.idle_since = Clock::now();
}

void CountingTool::serve(Caller& caller) {
  for (;;) {
    const std::size_t end = caller.received.find("\r\n\r\n");
    if (end == std::string::npos) return;
    std::string start_line;
    HeaderLines lines;
    const std::string wrong = split_head(caller.received.substr(0, end + 4), start_line, lines);
    const std::vector<std::string> lengths = values_of(lines, "Content-Length");
    const std::vector<std::string> runs = values_of(lines, "X-Run-Id");
    if (!wrong.empty() || lengths.size() != 1 || runs.size() != 1) {
      caller.is_over = true;
      return;
    }
    const std::size_t size = end + 4 + std::stoul(lengths[0]);
    if (caller.received.size() < size) return;
    caller.received.erase(0, size);
    if (!caller.socket.send_all(answer_to(runs[0]), Deadline(kSending))) caller.is_over = true;
  }
}

std::string CountingTool::answer_to(const std::string& run) {
  int effect = 0;
  {
    const std::lock_guard lock(mutex_);
    effect = ++effects_[run];
  }
  const std::string head =
      "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\n" + options_.more_lines;
  const std::string body = R"({"run":")" + run + R"(","effect":)" + std::to_string(effect) + "}";
  // White space behind the value fills the answer up to its size.
  const std::size_t frame = head.size() + std::string_view("Content-Length: 200\r\n\r\n").size();
  const std::size_t size = std::max(options_.answer_bytes, frame + body.size()) - frame;
  return head + "Content-Length: " + std::to_string(size) + "\r\n\r\n" + body +
         std::string(size - body.size(), ' ');
}

}  // namespace semel::testing
