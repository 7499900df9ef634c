# Shared by the scripts of this folder; sourced, never run.
# shellcheck shell=bash

# Everything these scripts fetch lies here. Nothing is installed system-wide
# where the package manager can unpack into a folder instead.
cache=${XDG_CACHE_HOME:-$HOME/.cache}/bucketop

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }
die() { say "$*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# as_root runs a command as root, without ever asking for a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif have sudo; then
    sudo -n "$@"
  else
    say "'$*' needs root, and there is no sudo"
    return 1
  fi
}

need_go() {
  have go || die "Go is missing: install Go 1.26 or newer from https://go.dev/dl/ and run this again."
}

# --- a Redis for the tests -------------------------------------------------

have_server() { have redis-server || have valkey-server; }

# need_redis makes redis-server or valkey-server reachable through PATH, or
# ends the script: without a server the tests would prove nothing.
need_redis() {
  PATH=$PATH:$cache/redis/bin
  export PATH
  have_server && return
  say "no redis-server or valkey-server on PATH; getting one for the tests (no service is started)"
  get_redis || true
  hash -r
  have_server || die "No Redis: install redis-server or valkey-server so that it is on PATH, and run this again."
}

get_redis() {
  if have brew; then
    say "brew install redis"
    brew install redis
  elif have apt-get && have dpkg; then
    unpack_redis
  elif have dnf; then
    say "dnf install valkey, or redis where there is none"
    as_root dnf install -y valkey || as_root dnf install -y redis
  elif have apk; then
    say "apk add redis"
    as_root apk add redis
  else
    say "no package manager known here (brew, apt-get, dnf, apk)"
    return 1
  fi
}

# apt DIR … calls apt-get on package lists and archives of its own under DIR, so
# that it works without root and leaves the system's apt alone.
apt() {
  local dir=$1
  shift
  mkdir -p "$dir/lists/partial" "$dir/archives/partial"
  apt-get -qq -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir" \
    -o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none "$@"
}

# unpack_redis installs nothing: installing Debian's redis-server would start a
# service on port 6379, which is where the console looks by default.
unpack_redis() {
  local new
  say "unpacking Debian's redis-server and its libraries under $cache/redis"
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/redis.XXXXXX")
  # Another run may have been faster; what it unpacked is as good.
  if fetch_redis "$new" && wrap_redis "$new" && ! [ -e "$cache/redis/bin/redis-server" ]; then
    rm -rf "$cache/redis"
    mv "$new" "$cache/redis"
  fi
  rm -rf "$new"
  "$cache/redis/bin/redis-server" --version >&2
}

# fetch_redis unpacks the server, the tools it is a link into, and those of
# their libraries that this machine lacks, all as Debian would install them.
fetch_redis() {
  local new=$1 plan packages deb
  apt "$new/apt" update || return 1
  plan=$(apt "$new/apt" -s --no-install-recommends install redis-server redis-tools) || return 1
  packages=$(printf '%s\n' redis-server redis-tools "$(awk '$1 == "Inst" {print $2}' <<<"$plan")" | sort -u)
  # shellcheck disable=SC2086 # one word per package
  (cd "$new" && apt "$new/apt" download $packages) || return 1
  for deb in "$new"/*.deb; do
    dpkg -x "$deb" "$new/tree" || return 1
  done
  rm -rf "$new/apt" "$new"/*.deb
}

# wrap_redis writes bin/redis-server and its companions, which find their
# libraries beside them. exec keeps the pid, so signals reach the server.
wrap_redis() {
  local new=$1 name
  mkdir -p "$new/bin"
  for name in redis-server redis-sentinel redis-cli; do
    [ -e "$new/tree/usr/bin/$name" ] || [ "$name" != redis-server ] || return 1
    cat >"$new/bin/$name" <<'EOF'
#!/bin/sh
# Written by .ci/test.
tree=$(cd "$(dirname "$0")/../tree" && pwd)
for dir in "$tree"/usr/lib/*-linux-* "$tree"/lib/*-linux-*; do
  [ -d "$dir" ] && LD_LIBRARY_PATH=$dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
export LD_LIBRARY_PATH
EOF
    printf 'exec "$tree/usr/bin/%s" "$@"\n' "$name" >>"$new/bin/$name"
    chmod +x "$new/bin/$name"
  done
}

# --- a C compiler for the race detector ------------------------------------

have_cc() { have "$(go env CC | awk '{print $1}')"; }

need_cc() {
  have_cc && return
  say "go test -race needs a C compiler; installing one"
  if have apt-get; then
    as_root apt-get -qq update && as_root apt-get -qq install -y --no-install-recommends gcc libc6-dev
  elif have dnf; then
    as_root dnf install -y gcc glibc-devel
  elif have apk; then
    as_root apk add gcc musl-dev
  fi || true
  hash -r
  have_cc || die "No C compiler: install gcc or clang (macOS: xcode-select --install) and run this again."
}

# --- tools of a fixed version ----------------------------------------------

# tool NAME PACKAGE VERSION prints the path of a Go program built from exactly
# that version; it is built once per version of Go and kept out of go.mod.
tool() {
  local dir
  dir=$cache/tools/$1-$3-$(go env GOVERSION)
  if ! [ -x "$dir/$1" ]; then
    say "go install $2@$3"
    GOBIN=$dir go install "$2@$3" || return 1
  fi
  printf '%s\n' "$dir/$1"
}
