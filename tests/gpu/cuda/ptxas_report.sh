#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: ptxas_report.sh REPORT_SCRIPT
# A kernel that spills is a warning, and an error only under --strict.
set -euo pipefail
script=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

kernel() {
  cat >"$folder/a.ptxas" <<END
ptxas info    : Compiling entry function '_Z6kernelv' for 'sm_80'
    $1 bytes stack frame, $2 bytes spill stores, $2 bytes spill loads
ptxas info    : Used 40 registers, 380 bytes cmem[0]
END
}

die() {
  echo "$1" >&2
  cat "$folder/output" >&2
  exit 1
}

kernel 0 0
for strict in "" --strict; do
  "$script" $strict "$folder" "$folder/report" >"$folder/output" 2>&1 || die "a good kernel failed"
  ! grep -q warning "$folder/output" || die "a good kernel was warned of"
done
kernel 0 8
"$script" "$folder" "$folder/report" >"$folder/output" 2>&1 || die "a spill failed the build"
grep -q warning "$folder/output" || die "nobody was warned of a spill"
grep -Eq 'sm_80 +40 +16 +0' "$folder/report" || die "the report lacks the spill"
! "$script" --strict "$folder" "$folder/report" >"$folder/output" 2>&1 || die "--strict let a spill pass"
