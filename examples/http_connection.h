#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::examples {

struct Header {
  std::string name;
  std::string value;
};

/// One request, whole, its chunks already joined.
struct Request {
  std::string method;
  std::string target;
  std::vector<Header> headers;
  std::string body;
  bool keep_alive = true;

  /// The first line of that name, whatever its case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

/// One answer. Date, Content-Length and Connection are added when it is written.
struct Response {
  int status = 200;
  std::vector<Header> headers;
  std::string body;
};

/// One blocking HTTP/1.1 connection of a small server.
///
/// @owns   The socket: it is closed with the object.
/// @thread One thread at a time. Another one may `::shutdown` the socket to wake a blocked read.
class HttpConnection {
 public:
  explicit HttpConnection(int socket) : socket_(socket) {}
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Waits for the next request.
  /// @return nullopt when the client closed, or sent something that is no request: close then.
  [[nodiscard]] std::optional<Request> read_request();

  /// @return false when the client is gone.
  [[nodiscard]] bool write(const Response& response, bool keep_alive);

  /// Answers nothing and reads nothing more, until the client gives up.
  void outwait_client();

 private:
  bool receive();
  std::optional<std::string> read_line();
  bool read_exactly(std::size_t size, std::string& out);
  bool read_headers(Request& request);
  bool read_body(Request& request);
  bool read_chunks(std::string& body);

  int socket_;
  std::string received_;  ///< Bytes not yet consumed.
};

}  // namespace semel::examples
