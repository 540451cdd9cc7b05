#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: record_ptxas.sh COMPILER ARGUMENTS... -o OBJECT ...
# Runs the compiler; what `ptxas -v` says goes to OBJECT.ptxas, everything else to standard error.
set -uo pipefail
object=
previous=
for argument in "$@"; do
  [ "$previous" = -o ] && object=$argument
  previous=$argument
done
if [ -z "$object" ]; then
  exec "$@"
fi
"$@" 2>"$object.messages"
status=$?
grep -E '^ptxas info|bytes stack frame' "$object.messages" >"$object.ptxas"
grep -vE '^ptxas info|bytes stack frame' "$object.messages" >&2
rm -f "$object.messages"
exit $status
