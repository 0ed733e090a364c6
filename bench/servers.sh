# Sourced by the scripts of this folder: a redis-server (AOF always) and a PostgreSQL 15 of their own, in a
# temporary folder that goes with them.
# shellcheck shell=bash disable=SC2034
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
perf=${SEMEL_PERF:-$root/../shared/perf}
postgres=/usr/lib/postgresql/15/bin

as_postgres=()
[[ $EUID -ne 0 ]] || as_postgres=(setpriv --reuid postgres --regid postgres --clear-groups)

stop_servers() {
  [[ -z ${redis_pid:-} ]] || kill "$redis_pid" || true
  [[ ! -f $state/pg-data/postmaster.pid ]] || "${as_postgres[@]}" "$postgres/pg_ctl" -D "$state/pg-data" -m fast -s stop || true
  rm -rf "$state"
}

start_servers() {
  state=$(mktemp -d)
  chmod 755 "$state"
  trap stop_servers EXIT
  export SEMEL_BENCH_STATE=$state SEMEL_BENCH_REDIS=redis://127.0.0.1:18203
  export SEMEL_BENCH_POSTGRES=postgres://semel@127.0.0.1:18204/postgres
  mkdir "$state/redis-data" "$state/pg-data"
  redis-server --port 18203 --bind 127.0.0.1 --dir "$state/redis-data" --appendonly yes --appendfsync always \
    --save '' --logfile "$state/redis-data/log" &
  redis_pid=$!
  [[ $EUID -ne 0 ]] || chown postgres "$state/pg-data"
  "${as_postgres[@]}" "$postgres/initdb" -D "$state/pg-data" -U semel -A trust >/dev/null
  "${as_postgres[@]}" "$postgres/pg_ctl" -D "$state/pg-data" -s -w -l "$state/pg-data/log" \
    -o "-p 18204 -c listen_addresses=127.0.0.1 -c unix_socket_directories=$state/pg-data" start
  pg_pid=$(head -1 "$state/pg-data/postmaster.pid")
}

in_postgres() { "$postgres/psql" -h 127.0.0.1 -p 18204 -U semel -At postgres -c "$1"; }
