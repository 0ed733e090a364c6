#include "proxy/acknowledge.h"

#include <ostream>

#include "core/json_reader.h"
#include "core/json_view.h"
#include "proxy/admin_client.h"
#include "proxy/audit_log.h"

namespace semel::proxy {

int acknowledge_running(const config::Config& config, std::ostream& out, std::ostream& err) {
  std::string target = "/v1/store/acknowledge";
  const std::string user = user_at_the_keyboard();
  if (!user.empty()) target += "?operator=" + percent_encoded(user);
  const AdminAnswer answer = AdminClient(config).ask("POST", target);
  ValueTape tape;
  if (read_json(answer.body, tape)) {
    err << "whoever answers on the admin listener's address is no semel serve\n";
    return 1;
  }
  const JsonView told(tape);
  if (!answer.is_success()) {
    const auto detail = told.member("detail");
    err << answer.status << ": " << (detail ? detail->text() : "refused") << '\n';
    return 1;
  }
  const auto was_suspect = told.member("was_suspect");
  const bool is_new = was_suspect && was_suspect->kind() == ValueKind::True;
  out << (is_new
              ? "acknowledged: from now on the store of the running semel counts as it is\n"
              : "the store of the running semel is not suspect: there is nothing to acknowledge\n");
  return 0;
}

}  // namespace semel::proxy
