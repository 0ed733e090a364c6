#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/message.h"
#include "proxy/reply.h"
#include "proxy/request_body.h"
#include "proxy/worker.h"

namespace semel::proxy {

/// One client connection: reads a head, finds its route, gathers or streams its body, hands it to
/// an exchange, and goes round again while both sides want to.
/// @thread One worker's.
class Session {
 public:
  Session(Worker& worker, std::unique_ptr<Connection> client, std::string address);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] Task<> run();

 private:
  enum class Then : std::uint8_t { Again, Close };
  enum class Whole : std::uint8_t { Yes, No };

  [[nodiscard]] Task<bool> read_head();
  [[nodiscard]] Task<IoEnd> read_first_bytes();
  void give_back_room();
  [[nodiscard]] Task<Then> answer();
  [[nodiscard]] Task<> exchange(const NormalPath& path, const RouteMatch& match, Policy policy,
                                Reply& reply);
  [[nodiscard]] Task<Whole> gather(std::size_t bytes_max, Reply& reply, const Route& route,
                                   std::string& decoded);
  [[nodiscard]] Task<Whole> gather_length(Reply& reply, const Route& route);
  [[nodiscard]] Task<Whole> gather_chunks(std::size_t bytes_max, Reply& reply, const Route& route,
                                          std::string& decoded);
  [[nodiscard]] Task<> invite_body();
  [[nodiscard]] Task<> refuse(Reply& reply, ProblemType type, std::string_view detail,
                              const Route* route, std::string_view allow = {});
  [[nodiscard]] Task<> linger();
  [[nodiscard]] std::string_view behind_head() const { return in_.text().substr(head_.head_bytes); }
  /// Takes up what arrived behind a body that had a buffer of its own.
  void put_back(std::string_view left_over);

  Worker& worker_;
  std::unique_ptr<Connection> client_;
  const std::string address_;
  // From a request's first byte to its last: the rules that read its head must stay.
  std::shared_ptr<Outfit> outfit_;
  std::list<Worker::Guest>::iterator guest_;
  Buffer in_;
  RequestHead head_;
  std::string scratch_;
  std::string left_over_;  // Behind a chunked body that was gathered.
  BufferBudget::Share share_;
  bool is_first_ = true;
};

}  // namespace semel::proxy
