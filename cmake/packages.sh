# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Installs what is missing of a package list (one Debian name a line, # starts a comment).
# Sourced by the launcher and by .ci/run.

say() { printf '%s\n' "$*" >&2; }

packages_of() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$1"; }

# The packages of list $1 that are not installed, on one line.
missing_packages() {
  local wanted installed package
  wanted=$(packages_of "$1")
  # shellcheck disable=SC2086 # one word a package
  installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' $wanted 2>/dev/null || true)"
  for package in $wanted; do
    case "$installed" in *" installed:$package "*) ;; *) printf '%s ' "$package" ;; esac
  done
}

# Exit 3: the machine lacks the packages $1, for the reason $2.
lacks_packages() {
  say "plumbline: $2"
  say "Install these packages (Debian 12's names) and call again:"
  say "  apt-get install --no-install-recommends ${1% }"
  exit 3
}

# Runs a command as root: directly, or through sudo, which asks for a password only on a terminal.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif [ -t 0 ] && [ -t 2 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# Installs what is missing of list $1; apt's own output goes to the file $2.
ensure_packages() {
  local missing log=$2
  if ! command -v dpkg-query >/dev/null; then
    # Another system. Its package names are its own; CMake tells which library it does not find.
    if ! command -v cmake >/dev/null || ! command -v ninja >/dev/null || ! command -v c++ >/dev/null; then
      lacks_packages "$(packages_of "$1" | tr '\n' ' ')" "CMake, Ninja or the C++ compiler is missing."
    fi
    return 0
  fi
  missing=$(missing_packages "$1")
  [ -n "$missing" ] || return 0
  [ "${PLUMBLINE_INSTALL:-yes}" != no ] ||
    lacks_packages "$missing" "packages are missing, and PLUMBLINE_INSTALL=no forbids installing them."
  command -v apt-get >/dev/null || lacks_packages "$missing" "packages are missing, and there is no apt-get."
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    lacks_packages "$missing" "packages are missing, only root can install them, and there is no sudo."
  say "plumbline: installing ${missing% }"
  as_root true 2>/dev/null ||
    lacks_packages "$missing" "packages are missing, and sudo does not let this user install them."
  # shellcheck disable=SC2086 # one word a package
  if ! { as_root apt-get update -q &&
         as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
           --no-install-recommends -o Dpkg::Use-Pty=0 $missing; } </dev/null >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    lacks_packages "$missing" "apt-get could not install the missing packages (its output: $log)."
  fi
}
