# Sourced by scripts/test-containers, after lib.sh: a Docker engine, and the image that all others begin with.
# shellcheck shell=bash
#
# One that answers is used as it is. Else one is started, with all that it keeps in a folder of its own and in a mount
# namespace of its own. It builds in the network of the machine, which has the way to the packages, and without a
# bridge; then it is started anew in a network namespace of its own, where its bridges, its rules and the published
# ports of its containers touch nothing of the machine.

container_packages=(docker.io docker-compose mmdebstrap util-linux iproute2 iptables jq curl)
base_image=debian:bookworm-slim
# shellcheck disable=SC2034
made_base_image=    # Or `true`: made here, and not to be left on an engine of somebody else's.

compose=()
# shellcheck disable=SC2034
enter=()       # Before a command that is to reach a published port.
engine_pid=    # Of the engine that was started here; empty: it was there before.
engine_home=
engine_cgroup=

# find_engine HOME: one that answers, or programs for one of our own.
find_engine() {
  engine_home=$1
  if ! docker info >/dev/null 2>&1; then
    ((EUID == 0)) || fail "no Docker engine answers; to start one takes root"
    install_missing "${container_packages[@]}"
    # The package's own client fits the package's own engine, whatever came first on the path; docker-compose
    # builds with the first one.
    [[ ! -x /usr/bin/docker ]] || export PATH=/usr/bin:$PATH
    export DOCKER_HOST=unix://$engine_home/socket DOCKER_CONFIG=$engine_home/client
    engine_cgroup=semel-engine-$$
    start_engine builder
  fi
  compose=(docker compose)
  "${compose[@]}" version >/dev/null 2>&1 || compose=(docker-compose)
}

is_own_engine() { [[ -n $engine_pid ]]; }

# start_engine builder|runner: in the network of the machine, or in one of its own.
start_engine() {
  local program network=() options=()
  program=$(PATH=$PATH:/usr/sbin:/sbin command -v dockerd) || fail "there is no dockerd"
  case $1 in
    builder) options=(--bridge=none --iptables=false --ip-forward=false --ip-masq=false) ;;
    runner) network=(--net) ;;
  esac
  mkdir -p "$engine_home/images" "$engine_home/run"
  # Its settings and its key are not those of an engine of the machine.
  # shellcheck disable=SC2016
  unshare --mount "${network[@]}" sh -euc '
    mkdir -p /etc/docker /run/docker
    mount -t tmpfs tmpfs /etc/docker
    mount -t tmpfs tmpfs /run/docker
    ip link set lo up
    exec "$@"' sh "$program" --host "$DOCKER_HOST" --data-root "$engine_home/images" \
    --exec-root "$engine_home/run" --pidfile "$engine_home/pid" --cgroup-parent "/$engine_cgroup" \
    "${options[@]}" >"$engine_home/engine.log" 2>&1 </dev/null &
  engine_pid=$!
  wait_until 60 engine_answers || {
    tail -n 20 "$engine_home/engine.log" >&2
    fail "the Docker engine does not come up"
  }
  if [[ $1 == runner ]]; then enter=(nsenter --target "$engine_pid" --net); fi
}

engine_answers() { docker info; }

# What it had built stays in its folder.
stop_engine() {
  is_own_engine || return 0
  kill -TERM "$engine_pid" 2>/dev/null || true
  wait "$engine_pid" 2>/dev/null || true
  engine_pid=
  enter=()
  find /sys/fs/cgroup -depth -type d -path "*/$engine_cgroup*" -exec rmdir {} + 2>/dev/null || true
  rmdir /run/docker 2>/dev/null || true
}

# From a registry, or where none is reached from the packages of Debian that apt is set to on this machine.
have_base_image() {
  docker image inspect "$base_image" >/dev/null 2>&1 && return 0
  timeout 60 docker pull -q "$base_image" >/dev/null 2>&1 && return 0
  say "$base_image is not to be had from a registry: making it"
  command -v mmdebstrap >/dev/null || install_missing mmdebstrap
  # shellcheck disable=SC2016
  apt-get indextargets --format '$(ORIGIN) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    sed -n 's/^Debian //p' >"$engine_home/sources.list"
  # As the registry's is made: no pages, no second copies of what apt knows.
  mmdebstrap --quiet --variant=minbase --include=usr-is-merged \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
    --aptopt='Dir::Cache::pkgcache ""' --aptopt='Dir::Cache::srcpkgcache ""' \
    bookworm - "$engine_home/sources.list" >"$engine_home/base.tar" &&
    docker import "$engine_home/base.tar" "$base_image" >/dev/null
  made_base_image=true
  rm -f "$engine_home/base.tar"
}
