#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/problem.h"
#include "core/stored_response.h"
#include "io/tcp.h"
#include "proxy/message.h"
#include "proxy/outcome.h"

namespace semel::proxy {

/// What a guarded answer says beside the answer itself (spec 8).
struct GuardWords {
  bool guarded = false;
  Outcome outcome = Outcome::Executed;
  std::string_view reference;   ///< 32 hex digits; empty where no claim exists.
  std::string_view client_key;  ///< Echoed; empty where the client sent none.
  bool veto = false;            ///< `x-should-retry: false`, for a relayed answer that was marked.
};

/// One answer to one client. Knows whether the head has left, and goes on in silence when the
/// client is gone: an effect is settled whoever is listening.
/// @thread One worker's.
class Reply {
 public:
  /// @param scratch  Where heads are rendered; its room is used again by the next answer.
  Reply(Connection& client, const RequestHead& request, std::string& scratch)
      : client_(client),
        pending_(scratch),
        is_head_(request.method == "HEAD"),
        is_http10_(request.minor_version == 0),
        keep_alive_(request.keep_alive) {}
  /// Before a request could be read.
  Reply(Connection& client, std::string& scratch)
      : client_(client), pending_(scratch), keep_alive_(false) {}
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  /// A refusal of our own, whole. @param allow  For 405; else empty.
  [[nodiscard]] Task<> problem(const Problem& problem, GuardWords words,
                               std::string_view allow = {});
  /// A stored answer, whole: a replay, or a follower's share.
  [[nodiscard]] Task<> stored(const StoredResponse& response, GuardWords words);
  /// 204, without a body.
  [[nodiscard]] Task<> no_content();

  /// Passes a fresh answer's head on and gets ready for its body.
  void begin(const ResponseHead& head, const GuardWords& words);
  enum class Hold : std::uint8_t {
    Nothing,
    LastByte,  ///< Nobody may take the answer for complete before end().
  };
  /// Sends the head, if it has not left, and one piece of the body.
  [[nodiscard]] Task<> piece(std::string_view data, Hold hold);
  /// Sends what is held, and the end of the body. Everything in one write where nothing has left
  /// yet.
  [[nodiscard]] Task<> end(std::string_view last_piece = {});
  /// How long the client may take nothing before it counts as gone; at most kPatienceMax.
  void be_patient_for(Deadlines::Clock::duration patience) {
    patience_ = std::clamp(patience, Deadlines::Clock::duration::zero(),
                           Deadlines::Clock::duration(kPatienceMax));
  }
  /// The upstream's body was cut: the client's connection is, too.
  void cut();

  [[nodiscard]] bool has_begun() const { return status_ != 0; }
  [[nodiscard]] bool head_has_left() const { return head_has_left_; }
  [[nodiscard]] bool is_gone() const { return gone_; }
  /// The client must see a broken answer, not one that ends.
  [[nodiscard]] bool was_cut() const { return cut_; }
  [[nodiscard]] bool keeps_alive() const { return keep_alive_ && !gone_; }
  void close_after() { keep_alive_ = false; }
  /// The body is read, or will be: the connection may go on as the client wishes.
  void restore_keep_alive(bool keep_alive) { keep_alive_ = keep_alive; }
  [[nodiscard]] std::uint16_t status() const { return status_; }
  [[nodiscard]] std::uint64_t bytes_sent() const { return bytes_sent_; }
  [[nodiscard]] std::string_view problem_slug() const { return problem_slug_; }

 private:
  static constexpr std::chrono::seconds kPatienceMax{30};
  enum class Way : std::uint8_t {
    None,  ///< No body follows: the head is all of it.
    Length,
    Chunked,
    UntilClose,
  };
  void write_words(const GuardWords& words);
  void write_connection();
  [[nodiscard]] Task<> send(std::string_view body, std::string_view tail);

  Connection& client_;
  std::string& pending_;  // The head until it leaves, then what stands before the next body bytes.
  Deadlines::Clock::duration patience_ = kPatienceMax;
  bool is_head_ = false;
  bool is_http10_ = false;
  bool keep_alive_ = true;
  bool head_has_left_ = false;
  bool gone_ = false;
  bool cut_ = false;
  Way way_ = Way::None;
  std::uint16_t status_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::string_view problem_slug_;
  std::string held_;  // At most one byte, of a body whose end must not be seen yet.
};

}  // namespace semel::proxy
