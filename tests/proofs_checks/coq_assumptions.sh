#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: coq_assumptions.sh COQC PROOFS COMPILED CLAIMS [PAGE]
# Every theorem in the folder PROOFS, and every theorem that a claim in the folder CLAIMS or the PAGE (`bounds.NAME`)
# names, rests on the axioms of PROOFS/axioms.txt and on nothing else: an admitted lemma is an axiom, too. COMPILED has
# what Coq made of them.
# Status 77 without Coq.
set -euo pipefail
coqc=$1 proofs=$2 compiled=$3 claims=$4 page=${5-}
if ! command -v "$coqc" >/dev/null; then
  echo "skipped: no coqc; apt-get install coq"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

named=$(grep -rhoE --include='*.cpp' '\.theorem = "[^"]*"' "$claims" | cut -d'"' -f2 || true)
[ -z "$page" ] || named+=$'\n'$(grep -oE '`bounds\.[a-z_0-9]+`' "$page" | tr -d '`' || true)
stated=$(for file in "$proofs"/*.v; do
  sed -nE "s/^(Theorem|Lemma|Corollary) ([A-Za-z0-9_']+).*/$(basename "$file" .v).\2/p" "$file"
done)
theorems=$(printf '%s\n' "$named" "$stated" | sed '/^$/d' | sort -u)

failed=
for name in $named; do
  file=$proofs/${name%%.*}.v
  if ! grep -qE "^Theorem ${name#*.}( |:|$)" "$file" 2>/dev/null; then
    echo "a claim or a page names $name, and $file has no such theorem"
    failed=1
  fi
done
[ -z "$failed" ] || exit 1

# What is printed under "Axioms:" is looked for once, under all of them: a line that does not begin with a space
# begins with an axiom's name.
{
  for file in "$proofs"/*.v; do echo "From Plumbline Require $(basename "$file" .v)."; done
  printf 'Definition everything := (I'
  # shellcheck disable=SC2086 # one word a theorem
  printf ', @Plumbline.%s' $theorems
  printf ').\nPrint Assumptions everything.\n'
} >"$work/everything.v"
"$coqc" -q -Q "$compiled" Plumbline -o "$work/everything.vo" "$work/everything.v" >"$work/printed"
head -1 "$work/printed" | grep -xE 'Axioms:|Closed under the global context' >/dev/null
found=$(sed -nE '2,$s/^([^ ]+).*/\1/p' "$work/printed")
wrong=$(grep -vxFf "$proofs/axioms.txt" <<<"$found" || true)
if [ -n "$wrong" ]; then
  printf 'a theorem rests on %s\n' $wrong
  echo "which is admitted, or no axiom of $proofs/axioms.txt"
  exit 1
fi
echo "$(wc -w <<<"$theorems") theorems, $(wc -w <<<"$named") of them named by claims and pages, rest on these axioms alone:"
echo "$found"
