#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: build_sanitized.sh address|thread SOURCE BUILD
# Builds the runners, and with them the emulated kernels, under a sanitizer.
set -euo pipefail
cd "$2"
cmake --preset "sanitize-$1" -B "$3" -DPLUMBLINE_CUDA=OFF >"$3.log" 2>&1 || {
  cat "$3.log"
  exit 1
}
ninja -C "$3" -j "$(nproc)" --quiet kernel_runner ops_runner
