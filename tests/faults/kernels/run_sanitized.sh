#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run_sanitized.sh PROGRAM [ARGUMENTS]
# Runs a program that was built under a sanitizer. Status 77 (ctest: skipped) where this machine's
# memory layout does not let it start.
set -euo pipefail

# Emulated threads are fibers on stacks of their own, which ASan's copies of stack frames cannot
# follow. A report of a race can be enormous: stop at the first.
export ASAN_OPTIONS=detect_stack_use_after_return=0 TSAN_OPTIONS=halt_on_error=1

# g++ 12's ThreadSanitizer does not start where addresses are randomised over more than 28 bits.
fixed=()
! setarch -R true 2>/dev/null || fixed=(setarch -R)

log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
"${fixed[@]}" "$@" 2>"$log" || status=$?
# The sanitizer's own reader of debug information fails on some functions of ours and prints
# "(PROGRAM+0x...)" or "<null> (NAME+0x...)": addr2line finds the line, and those of inlined calls.
while IFS= read -r line; do
  printf '%s\n' "$line"
  if [[ ($line == *"($1+0x"* || $line == *"<null>"*) && $line =~ \+(0x[0-9a-f]+)\)$ ]]; then
    addr2line -ie "$1" "${BASH_REMATCH[1]}" | sed 's/^/       at /'
  fi
done <"$log" >&2
if [ $status != 0 ] && grep -q "unexpected memory mapping" "$log"; then
  echo "skipped: the sanitizer cannot lay out its memory here; sysctl vm.mmap_rnd_bits=28 helps" >&2
  exit 77
fi
exit $status
