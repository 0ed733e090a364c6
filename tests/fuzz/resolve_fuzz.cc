// An operator's order on any bytes. What is taken could have been sent by a server and fits into
// the log: nothing that a replay or an audit line would have to refuse afterwards.
#include <cstdint>
#include <string_view>
#include <variant>

#include "core/check.h"
#include "core/header_rules.h"
#include "proxy/resolve_order.h"

namespace {

void check_response(const semel::StoredResponse& response) {
  SEMEL_CHECK(response.status >= 200 && response.status <= 599);
  for (const semel::HeaderField& field : response.fields) {
    SEMEL_CHECK(semel::is_token(field.name));
    SEMEL_CHECK(semel::is_field_value(field.value));
    SEMEL_CHECK(semel::is_stored(field.name));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace semel::proxy;
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const auto read = read_resolve_order(input);
  const auto* order = std::get_if<ResolveOrder>(&read);
  if (order == nullptr) {
    SEMEL_CHECK(!std::get<std::string>(read).empty());
    return 0;
  }
  SEMEL_CHECK(unfit_for_the_log(order->note, kNoteBytesMax).empty());
  SEMEL_CHECK(unfit_for_the_log(order->operator_name, kOperatorBytesMax).empty());
  if (order->resolution.response) {
    SEMEL_CHECK(order->resolution.decision == semel::Resolution::Decision::Happened);
    check_response(*order->resolution.response);
  }
  return 0;
}
