#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: every_function.sh LIBRARY HEADER PREFIX [-DMACRO...]
# Whether the library has every function that the header declares, under the name that a program compiled with
# it, and with these macros, asks for.
set -uo pipefail
library=$1 header=$2 prefix=$3
shift 3
[ -f "$header" ] || { echo "skipped: there is no $header"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc -E -P "$@" -I "$(dirname "$header")" -x c -include "$header" /dev/null 2>"$scratch/said" | tr '\n' ' ' |
  grep -oE "\b${prefix}[A-Z][A-Za-z0-9_]* *\(" | tr -d ' (' | sort -u >"$scratch/declared"
nm -D --defined-only "$library" | awk '{ sub("@.*", "", $3); print $3 }' | sort -u >"$scratch/there"
count=$(wc -l <"$scratch/declared")
if [ "$count" -lt 250 ]; then
  echo "only $count functions were found in $header" >&2
  cat "$scratch/said" >&2
  exit 1
fi
absent=$(comm -23 "$scratch/declared" "$scratch/there" | tr '\n' ' ')
if [ -n "$absent" ]; then
  echo "$library lacks: $absent" >&2
  exit 1
fi
echo "$count functions"
