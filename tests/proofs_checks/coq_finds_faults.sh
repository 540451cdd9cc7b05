#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: coq_finds_faults.sh COQC PROOFS COQ_ASSUMPTIONS
# A theorem without one of its hypotheses, an admitted lemma, another axiom, and a claim that names no theorem: each is
# planted alone in copies of two files of PROOFS, and must be refused. Status 77 without Coq.
set -euo pipefail
coqc=$1 proofs=$2 assumptions=$3
if ! command -v "$coqc" >/dev/null; then
  echo "skipped: no coqc; apt-get install coq"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() {
  "$coqc" -q -Q "$work/compiled" Plumbline -o "$work/compiled/$1.vo" "$work/proofs/$1.v"
}
mkdir "$work/proofs" "$work/compiled"
cp "$proofs/base.v" "$proofs/axioms.txt" "$work/proofs"
compile base

# What Coq and the script make of vanishing_weights.v after sed's change $1 to it, where a claim
# names vanishing_weights.$2: "refused by Coq", "refused by the script" or "accepted".
verdict_of() {
  sed -E "$1" "$proofs/vanishing_weights.v" >"$work/proofs/vanishing_weights.v"
  echo ".theorem = \"vanishing_weights.$2\"" >"$work/proofs/claim.cpp"
  compile vanishing_weights >"$work/said" 2>&1 || { echo "refused by Coq"; return; }
  "$assumptions" "$coqc" "$work/proofs" "$work/compiled" "$work/proofs" >"$work/said" 2>&1 ||
    { echo "refused by the script: $(head -1 "$work/said")"; return; }
  echo "accepted"
}

failed=
expect() {
  local found
  found=$(verdict_of "$2" "$3")
  case "$found" in
    "$4"*) echo "$1: $found" ;;
    *) echo "$1: $found; expected: $4"; failed=1 ;;
  esac
}
expect "nothing planted" '' lemma_3 accepted
expect "lemma_3 without m > 0" 's/^Theorem lemma_3 m F : 0 < m -> /Theorem lemma_3 m F : 0 <= m -> /' lemma_3 "refused by Coq"
expect "lemma_4 without beta > 0" '/^Theorem lemma_4 /s/ 0 < beta ->//' lemma_4 "refused by Coq"
expect "lemma_3 without bounded contents" '/^Theorem lemma_3 /,/^Proof/s/bounded n F f -> //' lemma_3 "refused by Coq"
expect "an admitted lemma" '/^Lemma apow_grows/,/^Qed\./s/^Qed\./Admitted./' lemma_4 \
  "refused by the script: a theorem rests on vanishing_weights.apow_grows"
expect "an axiom" 's/^Theorem lemma_3 /Axiom wrong : 0 = 1.\nTheorem rests : 1 = 0.\nProof. exact (eq_sym wrong). Qed.\n&/' lemma_3 \
  "refused by the script: a theorem rests on vanishing_weights.wrong"
expect "a claim that names no theorem" '' lemma_33 "refused by the script: a claim or a page names vanishing_weights.lemma_33"
[ -z "$failed" ]
