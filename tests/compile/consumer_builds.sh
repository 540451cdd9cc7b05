#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: consumer_builds.sh BUILD SCRATCH
# Installs BUILD into a prefix, builds and runs a project that finds it there, and runs the
# installed program, which must find its kernels.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
build=$1
scratch=$2
rm -rf "$scratch"
mkdir -p "$scratch"

# Runs a command and shows what it says only when it fails.
quietly() {
  "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; exit 1; }
}

quietly cmake --install "$build" --prefix "$scratch/first"
# Nothing may remember where it was installed to, so use it from another folder.
mv "$scratch/first" "$scratch/prefix"
quietly cmake -G Ninja -S "$here/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix"
quietly cmake --build "$scratch/build"
"$scratch/build/consumer"
cd "$scratch" && prefix/bin/plumbline verify --backend emulated --bias alibi --cases 2 --seed 1
