// hiredis: its reader, which builds our own replies, and its formatter. Nothing else knows it.
#include "stores/redis_reply.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <new>

#include "core/check.h"

namespace semel {
namespace {

/// Adds a reply where the reader's task says. Depth first: an open array is always the last item
/// of its parent, so that no pointer to one that is still open is moved by a growing vector.
RedisReply* place(const redisReadTask* task, RedisReply::Kind kind) {
  auto* parent = task->parent == nullptr ? nullptr : static_cast<RedisReply*>(task->parent->obj);
  RedisReply* reply =
      parent == nullptr ? new (std::nothrow) RedisReply : &parent->items.emplace_back();
  if (reply != nullptr) reply->kind = kind;
  return reply;
}

/// An error up to where the server begins to quote what it was sent, which may be a secret.
std::string_view without_quotation(std::string_view error) {
  error = error.substr(0, error.find("with args beginning with"));
  const auto last = error.find_last_not_of(", ");
  return error.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

void* create_text(const redisReadTask* task, char* text, std::size_t size) noexcept {
  const bool is_error = task->type == REDIS_REPLY_ERROR;
  RedisReply* reply = place(task, is_error ? RedisReply::Kind::Error : RedisReply::Kind::Text);
  const std::string_view said(text, size);
  if (reply != nullptr) reply->text = is_error ? without_quotation(said) : said;
  return reply;
}

void* create_array(const redisReadTask* task, int items) noexcept {
  if (items < 0 || static_cast<std::size_t>(items) > RedisReader::kItemsMax) return nullptr;
  RedisReply* reply = place(task, RedisReply::Kind::Array);
  // What is announced has not arrived yet: room for all of it is for a server that is honest.
  if (reply != nullptr) reply->items.reserve(std::min<std::size_t>(items, 64));
  return reply;
}

void* create_integer(const redisReadTask* task, long long value) {
  RedisReply* reply = place(task, RedisReply::Kind::Integer);
  if (reply != nullptr) reply->integer = value;
  return reply;
}

void* create_nil(const redisReadTask* task) { return place(task, RedisReply::Kind::Nil); }

/// Only ever called for the outermost reply.
void free_reply(void* reply) { delete static_cast<RedisReply*>(reply); }

redisReplyObjectFunctions* our_functions() {
  static redisReplyObjectFunctions functions{create_text, create_array, create_integer, create_nil,
                                             free_reply};
  return &functions;
}

}  // namespace

std::string_view RedisReply::code() const {
  if (!is_error()) return {};
  return std::string_view(text).substr(0, text.find(' '));
}

void RedisReader::Free::operator()(redisReader* reader) const { redisReaderFree(reader); }

RedisReader::RedisReader() : reader_(redisReaderCreateWithFunctions(our_functions())) {
  SEMEL_CHECK(reader_ != nullptr);
}

void RedisReader::feed(std::string_view bytes) {
  if (broken_ || bytes.empty()) return;
  const bool fits = reader_->len - reader_->pos + bytes.size() <= kBytesMax;
  broken_ = !fits || redisReaderFeed(reader_.get(), bytes.data(), bytes.size()) != REDIS_OK;
}

std::optional<RedisReply> RedisReader::next() {
  if (broken_) return std::nullopt;
  void* reply = nullptr;
  if (redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
    broken_ = true;
    return std::nullopt;
  }
  if (reply == nullptr) return std::nullopt;
  const std::unique_ptr<RedisReply> whole(static_cast<RedisReply*>(reply));
  return std::move(*whole);
}

void append_command(std::string& out, std::span<const std::string_view> words) {
  std::vector<const char*> texts;
  std::vector<std::size_t> sizes;
  texts.reserve(words.size());
  sizes.reserve(words.size());
  for (const std::string_view word : words) {
    texts.push_back(word.data() == nullptr ? "" : word.data());
    sizes.push_back(word.size());
  }
  sds command = nullptr;
  const int size = redisFormatSdsCommandArgv(&command, static_cast<int>(words.size()), texts.data(),
                                             sizes.data());
  SEMEL_CHECK(size > 0);
  out.append(command, static_cast<std::size_t>(size));
  redisFreeSdsCommand(command);
}

}  // namespace semel
