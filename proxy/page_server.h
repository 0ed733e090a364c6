#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.h"
#include "io/task.h"

namespace semel::proxy {

/// One request to a page of our own.
struct PageRequest {
  std::string method;
  std::string path;   ///< As it was written, before the `?`.
  std::string query;  ///< After it; empty where there is none.
  std::vector<std::pair<std::string, std::string>> fields;
  std::string body;

  [[nodiscard]] bool has(std::string_view field) const;
  /// The value of the only line of that name, any case; absent where there is none, or two.
  [[nodiscard]] std::optional<std::string_view> only(std::string_view field) const;
};

/// An answer that goes on, piece by piece, for as long as its reader reads.
class PageStream {
 public:
  virtual ~PageStream() = default;
  /// Asked once the piece before has been taken. @return The next one, once there is one; absent:
  /// that was all.
  virtual Task<std::optional<std::string>> next() = 0;
  /// Nobody reads any more: next() is to end soon.
  virtual void abandon() = 0;
};

/// What a page answers.
struct PageReply {
  std::uint16_t status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> fields;  ///< Beside type, length and no-store.
  std::string body;
  std::shared_ptr<PageStream> stream;  ///< Instead of a body; null: there is none.
};

/// What one listener serves.
/// @thread The one of its io_context.
struct Pages {
  std::size_t body_bytes_max = 0;
  /// Asked at the end of the head, before a byte of the body is read. Absent answer: go on.
  std::function<std::optional<PageReply>(const PageRequest& head)> refuse;
  std::function<Task<PageReply>(PageRequest request)> answer;
  /// The answer to what cannot be read: 400, 413 or 431. The connection ends with it.
  std::function<PageReply(std::uint16_t status)> unreadable;
};

/// Serves pages over plain HTTP/1.1 until the io_context stops, to at most 64 visitors at a time
/// and each for at most 10 s; one who reads a stream may stay, and has 30 s for each piece. Not on
/// the data path, so a library reads the requests (Beast).
class PageServer {
 public:
  /// @param key  Of the configuration, for the error: `metrics.address`.
  /// @throws std::runtime_error when the address cannot be listened on.
  PageServer(asio::io_context& io, const config::Address& address, std::string_view key,
             Pages pages);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// Where it listens: port 0 of the configuration has become a real one.
  [[nodiscard]] config::Address address() const;
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace semel::proxy
