#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: device_code_on_host.sh BUILD
# Where host code calls a __device__ function from a template, or by a constructor that the compiler
# made, nvcc says nothing and calls a stand-in that ends the program by exit(1) without a word. It
# writes such stand-ins into objects whether they are called or not: functions that do nothing but
# exit. So no other function of an object that nvcc made may call exit, or one of them.
set -euo pipefail
build=$(readlink -f "$1")
objects=$(find "$build" -path '*_cuda*.dir/*.cu.o' -o -path '*/cuda_*.dir/*.cu.o' | sort)
if [ -z "$objects" ]; then
  echo "device code on the host: no object of nvcc below $1; build gpu/cuda/all first" >&2
  exit 1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Of every function: "standin" if it does nothing but exit, else "exits"; and what it calls.
while read -r object; do
  objdump -dr --no-show-raw-insn "$object" | awk -v object="${object#"$build"/}" '
    # A jump within the section names its target; one with a relocation names whatever lies there.
    function follow() {
      if (target != "") print "refers", name, object, target
      target = ""
    }
    function finish() {
      follow()
      if (name != "" && exits)
        print (alone && name !~ /\.(cold|part|constprop)/ ? "standin" : "exits"), name, object
      name = ""
    }
    /^[0-9a-f]+ <.*>:$/ { finish(); name = substr($2, 2, length($2) - 3); exits = 0; alone = 1; next }
    /: R_[A-Z0-9_]+\t/ {
      target = ""
      symbol = $3
      sub(/[-+]0x[0-9a-f]+$/, "", symbol)
      if (symbol == "exit") exits = 1
      else print "refers", name, object, symbol
      next
    }
    /^ *[0-9a-f]+:\t/ {
      follow()
      instruction = $2
      if (instruction !~ /^(endbr64|sub|push|movl?|call|nop[wl]?|xchg|data16|cs|ud2)$/) alone = 0
      if (instruction ~ /^(call|j)/ && match($0, /<[^>]*>/)) {
        target = substr($0, RSTART + 1, RLENGTH - 2)
        if (target ~ /\+0x/ || target == name) target = ""
      }
    }
    END { finish() }'
done <<<"$objects" >"$scratch/facts"

awk '
  NR == FNR { if ($1 == "standin") standin[$2] = 1; next }
  $1 == "exits" { print $3, $2 }
  $1 == "refers" && ($4 in standin) && !($2 in standin) { print $3, $2 }
  ' "$scratch/facts" "$scratch/facts" | sort -u >"$scratch/faults"
if [ -s "$scratch/faults" ]; then
  echo "device code on the host: these call device functions:" >&2
  sed 's/^\([^ ]*\) /  \1: /' "$scratch/faults" | c++filt >&2
  exit 1
fi
echo "device code on the host: none in $(wc -l <<<"$objects") objects of nvcc"
