#pragma once

#include "tests/sim/laws.h"

namespace semel::sim {

// Laws over paths: every way is walked that the driver can take through a table, with all that an
// exchange on that way can know. An act that says or does what is not known breaks one of them.

Complaint every_event_that_an_act_can_bring_has_a_row(const DispatchTable& table);
Complaint a_client_is_told_only_what_is_known(const DispatchTable& table);
Complaint a_store_is_told_only_what_is_known(const DispatchTable& table);
Complaint nothing_is_sent_without_the_right_to_send_it(const DispatchTable& table);
Complaint no_step_is_taken_out_of_turn(const DispatchTable& table);
Complaint nothing_is_owed_at_the_end(const DispatchTable& table);

}  // namespace semel::sim
