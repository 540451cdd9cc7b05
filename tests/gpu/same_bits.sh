#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: same_bits.sh RUNNER
# Does every kernel of the runner give the same bits for another order of the threads of a block, and
# for another number of workers? (What adds atomically says that it is not deterministic, and prints
# no checksum.)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PLUMBLINE_THREAD_ORDER_SEED=1 PLUMBLINE_EMULATION_WORKERS=1 "$1" >"$folder/first"
[ -s "$folder/first" ] || { echo "$1 printed nothing" >&2; exit 1; }
PLUMBLINE_THREAD_ORDER_SEED=2 PLUMBLINE_EMULATION_WORKERS=3 "$1" >"$folder/second"
diff "$folder/first" "$folder/second" >&2 || { echo "the order of threads shows in the results" >&2; exit 1; }
echo "$(wc -l <"$folder/first") checksums are the same"
