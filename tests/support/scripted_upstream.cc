#include "tests/support/scripted_upstream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <system_error>

#include "tests/support/scripts.h"

namespace semel::testing {
namespace {

void open_pipe(int (&ends)[2]) {
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
}

void close_pipe(int (&ends)[2]) {
  ::close(ends[0]);
  ::close(ends[1]);
}

void make_readable(const int (&ends)[2]) {
  if (::write(ends[1], "x", 1) != 1) std::abort();
}

}  // namespace

void Turn::commit() {
  const std::lock_guard lock(upstream_.mutex_);
  ++upstream_.effects_;
  upstream_.changed_.notify_all();
}

void Turn::wait(milliseconds delay) {
  pollfd stop{upstream_.stop_pipe_[0], POLLIN, 0};
  ::poll(&stop, 1, static_cast<int>(delay.count()));
}

void Turn::wait_until_let_go() {
  std::unique_lock lock(upstream_.mutex_);
  upstream_.changed_.wait(lock, [this] { return upstream_.is_let_go_; });
}

void Turn::wait_for_step(int count) {
  std::unique_lock lock(upstream_.mutex_);
  upstream_.changed_.wait(
      lock, [this, count] { return upstream_.is_let_go_ || upstream_.steps_ >= count; });
}

void Turn::hang() {
  std::string ignored;
  while (socket_.is_open() && socket_.read_some(ignored, upstream_.patience(),
                                                upstream_.stop_pipe_[0]) == Incoming::Bytes) {
  }
  socket_.close();
}

void Turn::send(std::string_view bytes) {
  if (socket_.is_open() && !socket_.send_all(bytes, upstream_.patience())) socket_.close();
}

void Turn::drip(std::string_view bytes, milliseconds delay) {
  for (const char& byte : bytes) {
    if (!socket_.is_open()) return;
    wait(delay);
    send({&byte, 1});
  }
}

void Turn::finish() { socket_.close(); }
void Turn::reset() { socket_.reset(); }

ScriptedUpstream::ScriptedUpstream(std::uint16_t port, std::string unix_path)
    : port_(port),
      unix_path_(std::move(unix_path)),
      script_(commits_and_answers(200, R"({"ok":true})")) {
  open_pipe(stop_pipe_);
  listen_again();
}

ScriptedUpstream::~ScriptedUpstream() {
  make_readable(stop_pipe_);
  let_go();
  refuse();
  // No connection is accepted any more, so the list grows no longer.
  for (Server& server : servers_) server.thread.join();
  close_pipe(stop_pipe_);
}

void ScriptedUpstream::script(Script script) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(script);
}

void ScriptedUpstream::let_go() {
  const std::lock_guard lock(mutex_);
  is_let_go_ = true;
  changed_.notify_all();
}

void ScriptedUpstream::step() {
  const std::lock_guard lock(mutex_);
  ++steps_;
  changed_.notify_all();
}

void ScriptedUpstream::refuse() {
  if (!acceptor_.joinable()) return;
  make_readable(pause_pipe_);
  acceptor_.join();
  listener_.close();
  close_pipe(pause_pipe_);
}

void ScriptedUpstream::listen_again() {
  open_pipe(pause_pipe_);
  listener_ = unix_path_.empty() ? Socket::listen_on(port_) : Socket::listen_on(unix_path_);
  acceptor_ = std::thread([this] { accept_connections(); });
}

int ScriptedUpstream::requests() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(received_.size());
}

ReceivedRequest ScriptedUpstream::received(int number) const {
  const std::lock_guard lock(mutex_);
  return received_.at(static_cast<std::size_t>(number) - 1);
}

ReceivedRequest ScriptedUpstream::last_received() const {
  const std::lock_guard lock(mutex_);
  return received_.empty() ? ReceivedRequest{} : received_.back();
}

bool ScriptedUpstream::sees_requests(int count, milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience,
                           [&] { return static_cast<int>(received_.size()) >= count; });
}

bool ScriptedUpstream::sees_effects(int count, milliseconds patience) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience, [&] { return effects_ >= count; });
}

void ScriptedUpstream::accept_connections() {
  for (;;) {
    std::array<pollfd, 2> entries{pollfd{listener_.fd(), POLLIN, 0},
                                  pollfd{pause_pipe_[0], POLLIN, 0}};
    if (::poll(entries.data(), entries.size(), -1) < 0 && errno != EINTR) return;
    if (entries[1].revents != 0) return;
    Socket socket(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) continue;
    const int connection = ++connections_;
    const AtAccept act = at_accept_;
    if (act == AtAccept::Reset) {
      socket.reset();
    } else if (act == AtAccept::Serve) {
      ++open_;
      const std::lock_guard lock(mutex_);
      join_those_that_are_over();
      Server& server = servers_.emplace_back();
      server.thread = std::thread([this, connection, &server, taken = std::move(socket)]() mutable {
        serve(taken, connection);
        taken.close();
        --open_;
        server.is_over = true;
      });
    }
  }
}

void ScriptedUpstream::join_those_that_are_over() {
  std::erase_if(servers_, [](Server& server) {
    if (!server.is_over) return false;
    server.thread.join();
    return true;
  });
}

bool ScriptedUpstream::read_body(MessageReader& reader, ReceivedRequest& request) {
  if (!request.all("Transfer-Encoding").empty()) {
    request.is_chunked = true;
    return reader.read_chunked(request.body, patience());
  }
  const std::vector<std::string> lengths = request.all("Content-Length");
  if (lengths.empty()) return true;
  return reader.read_exactly(std::stoul(lengths[0]), request.body, patience());
}

Script ScriptedUpstream::note(const ReceivedRequest& request, int& number) {
  const std::lock_guard lock(mutex_);
  received_.push_back(request);
  number = static_cast<int>(received_.size());
  changed_.notify_all();
  return script_;
}

void ScriptedUpstream::serve(Socket& socket, int connection) {
  MessageReader reader(socket, stop_pipe_[0]);
  while (socket.is_open()) {
    Turn turn(*this, socket);
    ReceivedRequest& request = turn.request_;
    request.connection = connection;
    if (!reader.read_head(request.head, Deadline(milliseconds{idle_ms_}))) return;
    std::string start_line;
    if (!split_head(request.head, start_line, request.headers).empty()) return;
    request.method = start_line.substr(0, start_line.find(' '));
    request.target = start_line.substr(request.method.size() + 1);
    request.target.resize(request.target.rfind(' '));
    if (!before_body_ && !read_body(reader, request)) return;
    const Script script = note(request, turn.number_);
    script(turn);
  }
}

Blackhole::Blackhole() : port_(free_port()), listener_(Socket::listen_on(port_, 0)) {
  // The queue takes one more than it was told to; the first that finds no room stays unanswered.
  for (;;) {
    Socket socket = Socket::connect_to(port_, Deadline(milliseconds{200}));
    if (!socket.is_open()) return;
    queue_.push_back(std::move(socket));
  }
}

}  // namespace semel::testing
