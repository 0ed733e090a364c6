#include "stores/kept_answer.h"

#include <cstring>
#include <utility>

#include "stores/piece_pool.h"

namespace semel {
namespace {

/// From here on copying costs more than the slack of two strings.
constexpr std::size_t kPackedMax = 4096;

struct Head {
  std::uint16_t status;
  BodyKept kept;
  bool unframed;
  std::uint16_t lines_bytes;
  std::uint16_t body_bytes;
};
static_assert(kPackedMax <= 0xFFFF && sizeof(Head) + kPackedMax <= PiecePool::kPieceMax);

PiecePool& packed_answers() {
  static PiecePool pool;
  return pool;
}

}  // namespace

AnswerView view_of(const StoredResponse& response) {
  return {response.status, response.kept, response.unframed, response.fields.text(), response.body};
}

KeptAnswer::KeptAnswer(const StoredResponsePtr& response) {
  if (!response) return;
  const AnswerView from = semel::view_of(*response);
  const std::size_t bytes = from.lines.size() + from.body.size();
  if (bytes > kPackedMax) {
    form_ = std::make_unique<StoredResponsePtr>(response);
    return;
  }
  const Head head{from.status, from.kept, from.unframed,
                  static_cast<std::uint16_t>(from.lines.size()),
                  static_cast<std::uint16_t>(from.body.size())};
  Packed packed(static_cast<char*>(packed_answers().take(sizeof head + bytes)));
  std::memcpy(packed.get(), &head, sizeof head);
  from.lines.copy(packed.get() + sizeof head, from.lines.size());
  from.body.copy(packed.get() + sizeof head + from.lines.size(), from.body.size());
  form_ = std::move(packed);
}

void KeptAnswer::GivingBack::operator()(char* packed) const {
  Head head;
  std::memcpy(&head, packed, sizeof head);
  packed_answers().give_back(packed, sizeof head + head.lines_bytes + head.body_bytes);
}

AnswerView KeptAnswer::view() const {
  if (const auto* shared = std::get_if<Shared>(&form_)) return semel::view_of(***shared);
  const auto* packed = std::get_if<Packed>(&form_);
  if (!packed) return {};
  Head head;
  std::memcpy(&head, packed->get(), sizeof head);
  const char* lines = packed->get() + sizeof head;
  return {head.status,
          head.kept,
          head.unframed,
          {lines, head.lines_bytes},
          {lines + head.lines_bytes, head.body_bytes}};
}

StoredResponsePtr KeptAnswer::unpack() const {
  if (empty()) return nullptr;
  if (const auto* shared = std::get_if<Shared>(&form_)) return **shared;
  const AnswerView from = view();
  auto response = std::make_shared<StoredResponse>();
  response->status = from.status;
  response->kept = from.kept;
  response->unframed = from.unframed;
  response->fields.reserve(from.lines.size());
  for (auto line = FieldLines::Iterator(from.lines); line != FieldLines::Iterator({}); ++line) {
    response->fields.push_back(*line);
  }
  response->body = from.body;
  return response;
}

std::size_t KeptAnswer::bytes() const {
  const AnswerView parts = view();
  return parts.lines.size() + parts.body.size();
}

}  // namespace semel
