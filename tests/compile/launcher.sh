#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: launcher.sh PROGRAM
# What ./plumbline says when it cannot go on: the status, and that standard output stays empty; and
# that it knows the program's commands.
set -euo pipefail
root=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# expect STATUS TEXT COMMAND...: the command ends with STATUS and says TEXT on standard error.
expect() {
  local status=$1 text=$2 got=0
  shift 2
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || got=$?
  if [ "$got" != "$status" ] || ! grep -qF -- "$text" "$scratch/err" || [ -s "$scratch/out" ]; then
    echo "expected status $status and '$text', got status $got from: $*" >&2
    cat "$scratch/out" "$scratch/err" >&2
    exit 1
  fi
}

expect 2 "usage: ./plumbline COMMAND" "$root/plumbline"
expect 2 "unknown command 'verfy'" "$root/plumbline" verfy
expect 2 "usage: ./plumbline sanitize" "$root/plumbline" sanitize
expect 2 "the program comes first" "$root/plumbline" sanitize --all
expect 2 "the program is '/nowhere/program'; expected a file that can be executed" \
  "$root/plumbline" sanitize /nowhere/program
expect 2 "the program is '$root/README.md'" "$root/plumbline" sanitize "$root/README.md"
expect 2 "expected attention, training, blocked, gpt2, verdict, software-device, limits or gpu" "$root/plumbline" bench gpus
if command -v python3 >/dev/null; then # refused before anything is built
  expect 2 "--kernl" "$root/plumbline" bench limits --kernl mma_forward
  expect 3 "there is no nvcc" env CUDACXX=/nowhere/nvcc "$root/plumbline" bench limits --check
  expect 2 "--steps has 'verfy'" "$root/plumbline" bench gpu --toy --steps verfy
fi

# Help comes before a build: the copy of the launcher could not make one.
mkdir -p "$scratch/alone/cmake"
cp "$root/plumbline" "$scratch/alone"
cp "$root/cmake/packages.sh" "$scratch/alone/cmake"
for help in "--help" "test --help" "test -R alibi -h" "sanitize --help"; do
  # shellcheck disable=SC2086 # words
  if ! "$scratch/alone/plumbline" $help | grep -q "^usage: ./plumbline"; then
    echo "no usage for: $help" >&2
    exit 1
  fi
done

# The launcher tells its commands without a build, so it has a list of its own.
commands() { sed -n 's/^  \([a-z]\+\)  .*/\1/p' | sort; }
if ! diff <("$1" --help | sed '1,/Subcommands:/d' | commands) \
          <("$root/plumbline" --help | commands | grep -vxE 'test|bench|sanitize') >&2; then
  echo "the program (<) and the launcher (>) have different commands" >&2
  exit 1
fi

# A machine without packages: a copy of the launcher, and a dpkg-query that knows of none.
mkdir -p "$scratch/clone/cmake" "$scratch/bin"
cp "$root/plumbline" "$scratch/clone"
cp "$root"/cmake/packages.sh "$root"/cmake/debian-packages.txt "$scratch/clone/cmake"
for tool in bash env true readlink dirname mkdir flock cmp sed tr id cat tail cp rm; do
  ln -s "$(type -P $tool)" "$scratch/bin/$tool"
done
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/dpkg-query"
chmod +x "$scratch/bin/dpkg-query"
everything="apt-get install --no-install-recommends g++ cmake ninja-build"
expect 3 "$everything" env PATH="$scratch/bin" "$scratch/clone/plumbline" verify
expect 3 "PLUMBLINE_INSTALL=no" env PLUMBLINE_INSTALL=no PATH="$scratch/bin" "$scratch/clone/plumbline" verify

# Somebody who is not root and has no sudo.
printf '#!/bin/sh\nexit 0\n' >"$scratch/bin/apt-get"
rm "$scratch/bin/id"
printf '#!/bin/sh\necho 1000\n' >"$scratch/bin/id"
chmod +x "$scratch/bin/apt-get" "$scratch/bin/id"
expect 3 "only root can install them" env PATH="$scratch/bin" "$scratch/clone/plumbline" verify

# One package is missing: that one is named, and no other.
# shellcheck disable=SC2016
printf '#!/bin/sh\nshift 3\nfor p; do [ $p = libfmt-dev ] || printf "installed:$p "; done\nexit 1\n' \
  >"$scratch/bin/dpkg-query"
expect 3 "apt-get install --no-install-recommends libfmt-dev" \
  env PATH="$scratch/bin" "$scratch/clone/plumbline" verify
if grep -q "libfmt-dev ." "$scratch/err"; then
  echo "more is named than what is missing:" >&2
  cat "$scratch/err" >&2
  exit 1
fi

# apt-get that fails: its last words are shown.
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "E: Unable to locate package"\nexit 100\n' >"$scratch/bin/apt-get"
printf '#!/bin/sh\ncase $1 in -n) shift ;; esac\nexec "$@"\n' >"$scratch/bin/sudo"
chmod +x "$scratch/bin/sudo"
expect 3 "E: Unable to locate package" env PATH="$scratch/bin" "$scratch/clone/plumbline" verify

# A build with nothing to do is not announced: no glob that each build must look at again.
if grep -rnE --include=CMakeLists.txt --include='*.cmake' --exclude-dir=build \
     '^ *file\(GLOB.* CONFIGURE_DEPENDS' "$root"; then
  echo "expected the folder in CMAKE_CONFIGURE_DEPENDS" >&2
  exit 1
fi
echo "the launcher's refusals are as they should be"
