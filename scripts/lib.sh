# Sourced by the scripts of this folder: packages, builds, and words for the terminal.
# shellcheck shell=bash disable=SC2034
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# What `scripts/run` needs on Debian 12, and what the tests need on top of it.
run_packages=(
  clang-19 lld-19 binutils libc6-dev cmake ninja-build ccache
  libboost1.81-dev libssl-dev libicu-dev libyaml-cpp-dev libsqlite3-dev libxxhash-dev libhiredis-dev libpq-dev prometheus-cpp-dev
  curl ca-certificates
)
test_packages=(
  libclang-rt-19-dev clang-tidy-19 clang-format-19 libgtest-dev libgmock-dev unicode-data bzip2 git
)
# The servers that the tests start: behind the program for the smuggling tests, and as its stores.
server_packages=(nginx haproxy apache2-bin redis-server redis-sentinel postgresql-15)
command -v node >/dev/null || server_packages+=(nodejs)
# Of these, the ones that come with a service, which nobody here wants: the tests start the programs themselves.
service_packages=(nginx haproxy redis-server redis-sentinel postgresql)

say() { printf '%s\n' "$*"; }
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Installs those of the named packages that are missing; touches nothing when none is.
install_missing() {
  command -v dpkg-query >/dev/null || return 0 # Not Debian: CMake names what it does not find.
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "as root, please: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing: ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q </dev/null
  install_idle "${missing[@]}"
}

# Installs packages, as_root where that takes it. No service of theirs is started, now or at the next boot.
install_idle() (
  policy=/usr/sbin/policy-rc.d
  if [[ ! -e $policy ]]; then
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod 755 "$policy"
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "$@" </dev/null
  command -v systemctl >/dev/null || exit 0
  for package in "${service_packages[@]}"; do
    [[ " $* " != *" $package "* ]] || "${as_root[@]}" systemctl disable --quiet "$package"
  done
)

# build PRESET [CMAKE_OPTION...] [-- TARGET...]: configures and builds, two jobs; all without a target.
build() {
  local preset=$1 options=() targets=()
  shift
  while (($#)) && [[ $1 != -- ]]; do
    options+=("$1")
    shift
  done
  if (($#)); then
    shift
    targets=(--target "$@")
  fi
  (
    cd "$root"
    cmake --preset "$preset" "${options[@]}"
    cmake --build --preset "$preset" -j2 "${targets[@]}"
  )
}
