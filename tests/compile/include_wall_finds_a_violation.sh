#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: include_wall_finds_a_violation.sh BUILD
# The check of the include wall can fail: it must name the planted file.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
project=$here/wall_violation
build=$1
cmake --fresh -G Ninja -S "$project" -B "$build" >/dev/null
cmake --build "$build" >/dev/null
if message=$("$here/include_wall.sh" "$project" "$build" 2>&1); then
  echo "the planted violation was not found: $message" >&2
  exit 1
fi
echo "$message"
grep -qx "include wall: reference/mask.hpp is reached from" <<<"$message"
