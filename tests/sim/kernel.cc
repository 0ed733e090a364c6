// Descriptors and sockets of the simulated kernel. Called by libc.cc for the processes and by the
// actors directly.
#include "tests/sim/kernel.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/check.h"
#include "tests/sim/kernel_file.h"

namespace semel::sim {
namespace {

Kernel* machine = nullptr;

}  // namespace

Kernel::Kernel(Timeline& timeline, Dice dice, Weather weather)
    : timeline_(timeline), dice_(dice), network_(timeline, dice_.fork(), weather) {
  SEMEL_CHECK(machine == nullptr);
  machine = this;
}

Kernel::~Kernel() { machine = nullptr; }

Kernel* Kernel::current() { return machine; }

Kernel::File* Kernel::file(int fd) const {
  const auto index = static_cast<std::size_t>(fd - kFirstDescriptor);
  return is_ours(fd) && index < files_.size() ? files_[index].get() : nullptr;
}

int Kernel::open(Type type) {
  const int fd = kFirstDescriptor + static_cast<int>(files_.size());
  files_.push_back(std::make_unique<File>());
  files_.back()->type = type;
  files_.back()->fd = fd;
  files_.back()->owner = Process::current();
  return fd;
}

void Kernel::stopping_point() {
  Process* process = Process::current();
  if (process == nullptr) return;
  process->stopping_point();
  if (on_call) process->suffer(on_call(*process));
}

EndPtr Kernel::start_connection(std::uint16_t port) {
  auto [dialler, acceptor] = network_.connect(port);
  if (!network_.loses_it()) {
    timeline_.after(network_.travel(*dialler),
                    [this, dialler, acceptor] { arrive(dialler, acceptor); });
  }
  return dialler;
}

void Kernel::arrive(const EndPtr& dialler, const EndPtr& acceptor) {
  const auto listener = listeners_.find(acceptor->port);
  const auto actor = actors_.find(acceptor->port);
  const bool is_taken = listener != listeners_.end() || actor != actors_.end();
  acceptor->is_open = is_taken;
  dialler->last_arrival = timeline_.now();
  acceptor->last_arrival = timeline_.now() + network_.travel(*acceptor);
  timeline_.at(acceptor->last_arrival, [this, dialler, is_taken] {
    dialler->opened = timeline_.now();
    (is_taken ? dialler->is_open : dialler->refused) = true;
    Network::tell(dialler);
  });
  if (listener != listeners_.end()) {
    listener->second->backlog.push_back(acceptor);
    wake(*listener->second);
  } else if (is_taken) {
    actor->second(acceptor);
  }
}

void Kernel::serve(std::uint16_t port, std::function<void(const EndPtr&)> accept) {
  actors_[port] = std::move(accept);
}

int Kernel::open_socket() { return open(Type::Socket); }

int Kernel::bind(int fd, std::uint16_t port) {
  file(fd)->port = port;
  return 0;
}

int Kernel::listen(int fd) {
  File* socket = file(fd);
  if (listeners_.contains(socket->port)) return EADDRINUSE;
  socket->type = Type::Listener;
  listeners_[socket->port] = socket;
  return 0;
}

int Kernel::accept(int fd, sockaddr* address, socklen_t* size) {
  stopping_point();
  File* listener = file(fd);
  if (listener->backlog.empty()) {
    errno = EAGAIN;
    return -1;
  }
  const EndPtr end = listener->backlog.front();
  listener->backlog.pop_front();
  const int accepted = open(Type::Stream);
  File* stream = file(accepted);
  stream->end = end;
  end->process = stream->owner->id();
  end->on_news = [this, stream] { wake(*stream); };
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (address != nullptr) std::memcpy(address, &peer, std::min<std::size_t>(*size, sizeof peer));
  if (size != nullptr) *size = sizeof peer;
  return accepted;
}

int Kernel::connect(int fd, std::uint16_t port) {
  stopping_point();
  File* socket = file(fd);
  socket->type = Type::Stream;
  socket->end = start_connection(port);
  socket->end->process = socket->owner->id();
  socket->end->on_news = [this, socket] { wake(*socket); };
  return EINPROGRESS;
}

int Kernel::close(int fd) {
  File* closed = file(fd);
  if (closed == nullptr) return EBADF;
  if (closed->type == Type::Listener) {
    listeners_.erase(closed->port);
    for (const EndPtr& end : closed->backlog) network_.reset(end);
  }
  if (closed->end != nullptr) {
    if (closed->linger_zero) network_.reset(closed->end);
    network_.close(closed->end);
  }
  files_[static_cast<std::size_t>(fd - kFirstDescriptor)].reset();
  return 0;
}

void Kernel::close_all_of(std::uint16_t process) {
  for (const auto& open : files_) {
    if (open != nullptr && open->owner != nullptr && open->owner->id() == process) close(open->fd);
  }
}

int Kernel::shutdown_write(int fd) {
  File* stream = file(fd);
  if (stream->end == nullptr || !stream->end->is_open) return ENOTCONN;
  network_.finish(stream->end);
  return 0;
}

void Kernel::set_linger_zero(int fd) { file(fd)->linger_zero = true; }

int Kernel::take_error(int fd) {
  const File* stream = file(fd);
  if (stream->end == nullptr) return 0;
  if (stream->end->refused) return ECONNREFUSED;
  return stream->end->broken ? ECONNRESET : 0;
}

bool Kernel::is_stream(int fd) const { return file(fd)->type == Type::Stream; }

ssize_t Kernel::receive(int fd, char* into, std::size_t size, bool peek) {
  if (!peek) stopping_point();
  const EndPtr end = file(fd)->end;
  if (end == nullptr || !end->is_open) {
    errno = ENOTCONN;
    return -1;
  }
  if (end->inbox.empty()) {
    if (end->broken)
      errno = ECONNRESET;
    else if (!end->peer_ended)
      errno = EAGAIN;
    return end->broken || !end->peer_ended ? -1 : 0;
  }
  const std::size_t count = std::min(size, end->inbox.size());
  std::memcpy(into, end->inbox.data(), count);
  if (!peek) network_.drop_first(end, count);
  return static_cast<ssize_t>(count);
}

ssize_t Kernel::send(int fd, std::string_view bytes) {
  stopping_point();
  const EndPtr end = file(fd)->end;
  if (end == nullptr || !end->is_open || end->broken || end->sent_end) {
    errno = end == nullptr || !end->is_open ? ENOTCONN : end->broken ? ECONNRESET : EPIPE;
    return -1;
  }
  // A kernel may take as little as it likes.
  if (short_writes > 0 && bytes.size() > 1 && dice_.chance(short_writes)) {
    bytes = bytes.substr(0, 1 + dice_.below(bytes.size() - 1));
    // It says when it takes more.
    timeline_.after(std::chrono::microseconds(100), [end] {
      if (!end->closed && end->on_news) end->on_news();
    });
  }
  const std::size_t taken = network_.send(end, bytes);
  if (taken == 0 && !bytes.empty()) {
    errno = EAGAIN;
    return -1;
  }
  if (on_sent) on_sent(end, bytes.substr(0, taken));
  return static_cast<ssize_t>(taken);
}

Time Kernel::monotonic() {
  timeline_.spend(std::chrono::nanoseconds(20));
  return std::chrono::hours(2) + timeline_.now();
}

Time Kernel::boot() {
  if (Process* process = Process::current()) process->last_boot_reading = timeline_.now();
  timeline_.spend(std::chrono::nanoseconds(20));
  return std::chrono::hours(3) + timeline_.now();
}

Time Kernel::wall() {
  // Some day in 2025.
  return std::chrono::seconds(1'750'000'000) + timeline_.now() + wall_offset_;
}

void Kernel::fill_random(void* into, std::size_t size) {
  auto* bytes = static_cast<unsigned char*>(into);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t drawn = dice_.number();
    std::memcpy(bytes + at, &drawn, std::min(sizeof drawn, size - at));
  }
}

}  // namespace semel::sim
