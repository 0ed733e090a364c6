#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <variant>

#include "core/stored_response.h"

namespace semel {

/// The parts of an answer, wherever they lie.
struct AnswerView {
  std::uint16_t status = 0;
  BodyKept kept = BodyKept::Kept;
  bool unframed = false;
  std::string_view lines;  ///< As FieldLines::text() has them.
  std::string_view body;
};
[[nodiscard]] AnswerView view_of(const StoredResponse& response);

/// An answer as a record keeps it: a small one in a single piece of memory without any slack, as
/// most of what a store holds would be that; a large one shared with whoever brought it.
class KeptAnswer {
 public:
  KeptAnswer() = default;
  /// @param response  Null: none is kept.
  explicit KeptAnswer(const StoredResponsePtr& response);

  [[nodiscard]] bool empty() const { return std::holds_alternative<std::monostate>(form_); }
  /// @owns Points into this, and is valid as long as it is not moved or assigned to.
  [[nodiscard]] AnswerView view() const;
  /// The response again; null if none is kept.
  [[nodiscard]] StoredResponsePtr unpack() const;
  /// The bytes of header lines and body that a limit counts; 0 if none is kept.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct GivingBack {
    void operator()(char* packed) const;
  };
  using Packed = std::unique_ptr<char[], GivingBack>;  ///< A `Head`, the header lines, the body.
  using Shared = std::unique_ptr<StoredResponsePtr>;

  std::variant<std::monostate, Packed, Shared> form_;
};

}  // namespace semel
