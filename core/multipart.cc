#include "core/multipart.h"

#include <string>

namespace semel {

std::vector<std::string_view> multipart_pieces(std::string_view body, std::string_view boundary) {
  const std::string delimiter = "\r\n--" + std::string(boundary);
  std::vector<std::string_view> pieces;
  // A delimiter at the very start has no line break before it.
  if (body.starts_with(std::string_view(delimiter).substr(2))) {
    pieces.push_back(body.substr(0, 0));
    body.remove_prefix(delimiter.size() - 2);
  }
  while (true) {
    const std::size_t at = body.find(delimiter);
    pieces.push_back(body.substr(0, at));
    if (at == body.npos) return pieces;
    body.remove_prefix(at + delimiter.size());
  }
}

}  // namespace semel
