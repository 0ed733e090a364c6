# A run of one agent: every call that belongs to it carries its id.
RUN=trip-$(date +%s)

# The first call reaches the tool.
curl -si http://127.0.0.1:8080/tools/book -H 'Content-Type: application/json' -H 'X-Tenant-Id: acme' -H "X-Run-Id: $RUN" -d '{"flight":"BA117","seats":2,"amount":"258.00","request_id":"a1"}'
#> HTTP/1.1 201
#> Idempotency-Status: executed

# The agent retries: another request_id, another member order, 2.0 for 2. Same call, same answer.
curl -si http://127.0.0.1:8080/tools/book -H 'Content-Type: application/json' -H 'X-Tenant-Id: acme' -H "X-Run-Id: $RUN" -d '{"request_id":"b2","amount":"258.00","seats":2.0,"flight":"BA117"}'
#> HTTP/1.1 201
#> Idempotency-Status: replayed
#> Idempotent-Replayed: true

# The same booking at another price is no retry: refused, nothing is sent.
curl -si http://127.0.0.1:8080/tools/book -H 'Content-Type: application/json' -H 'X-Tenant-Id: acme' -H "X-Run-Id: $RUN" -d '{"flight":"BA117","seats":2,"amount":"999.00"}'
#> HTTP/1.1 422
#> key-reused

# Ten at once, while the tool takes its time: one booking, ten times the same answer.
seq 10 | xargs -P 10 -I{} curl -s http://127.0.0.1:8080/tools/book -H 'Content-Type: application/json' -H 'X-Tenant-Id: acme' -H "X-Run-Id: $RUN" -H 'X-Example-Behaviour: delay=300' -d '{"flight":"LH400","seats":1,"amount":"512.00"}' | sort | uniq -c
#> 10 {"booking_ref":"BK-

# The tool books and never answers. After the route's timeout of 2 s: the outcome is unknown.
curl -si http://127.0.0.1:8080/tools/book -H 'Content-Type: application/json' -H 'X-Tenant-Id: acme' -H "X-Run-Id: $RUN" -H 'X-Example-Behaviour: hang' -d '{"flight":"AF006","seats":1,"amount":"730.00"}'
#> HTTP/1.1 409
#> Idempotency-Status: indeterminate
#> x-should-retry: false

# Asking again cannot book twice, although the tool is well again: the answer stays "unknown".
curl -si http://127.0.0.1:8080/tools/book -H 'Content-Type: application/json' -H 'X-Tenant-Id: acme' -H "X-Run-Id: $RUN" -d '{"flight":"AF006","seats":1,"amount":"730.00"}'
#> HTTP/1.1 409
#> Idempotency-Status: indeterminate

# Fifteen calls were made. The tool was called three times, and booked three times.
curl -s http://127.0.0.1:9000/effects
#> "book":{"calls":3,"effects":3}
