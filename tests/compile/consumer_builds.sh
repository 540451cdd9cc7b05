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
cmake --install "$build" --prefix "$scratch/first" >/dev/null
# Nothing may remember where it was installed to, so use it from another folder.
mv "$scratch/first" "$scratch/prefix"
cmake -G Ninja -S "$here/consumer" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
cmake --build "$scratch/build" >/dev/null
"$scratch/build/consumer"
cd "$scratch" && prefix/bin/plumbline verify --backend emulated --bias alibi --cases 2 --seed 1
