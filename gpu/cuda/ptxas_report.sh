#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: ptxas_report.sh [--strict] FOLDER REPORT
# Makes a table of registers, spills and stack frames from all *.ptxas below FOLDER, writes it to
# REPORT and prints the worst of each. Warns when a kernel spills or needs a stack frame; --strict:
# fails.
set -euo pipefail
strict=no
if [ "$1" = --strict ]; then
  strict=yes
  shift
fi
folder=$1
report=$2
find "$folder" -name '*.ptxas' | sort | xargs cat | c++filt | awk '
  /Compiling entry function/ {
    match($0, /sm_[0-9a-z]+/)
    arch = substr($0, RSTART, RLENGTH)
    # a kernel as people name it: no return type, no arguments, no namespaces
    name = $0
    sub(/^[^\047]*\047/, "", name)
    sub(/\047 for .*$/, "", name)
    if (name ~ /^_Z/ ) { "c++filt " name | getline name }
    sub(/^void /, "", name)
    sub(/\(plumbline::gpu::Problem.*$/, "", name)
    gsub(/plumbline::gpu::|\(anonymous namespace\)::/, "", name)
    sub(/\(.*$/, "", name)
  }
  /bytes stack frame/ { stack = $1; stores = $5; loads = $9 }
  /Used [0-9]+ registers/ {
    match($0, /Used [0-9]+/)
    registers = substr($0, RSTART + 5, RLENGTH - 5)
    printf "%-62s %-7s %9d %7d %7d\n", name, arch, registers, stores + loads, stack
  }' | sort -u >"$report.rows"
{
  printf '%-62s %-7s %9s %7s %7s\n' kernel arch registers spilled stack
  cat "$report.rows"
} >"$report"
awk '{ if ($(NF-2) > r) r = $(NF-2); s += $(NF-1); if ($NF > f) f = $NF }
     END { printf "%d kernels: at most %d registers, %d bytes spilled, stack frames up to %d bytes\n",
                  NR, r, s, f; exit s > 0 || f > 0 || NR == 0 }' "$report.rows" || {
  echo "warning: kernels spill or need a stack frame (or there is no kernel): see $report" >&2
  if [ $strict = yes ]; then
    rm -f "$report.rows"
    exit 1
  fi
}
rm -f "$report.rows"
