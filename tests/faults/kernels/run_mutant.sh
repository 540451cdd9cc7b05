#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: run_mutant.sh MUTANT SOURCE BUILD SCRATCH CHECK [device | gpu]
# Plants the fault that the file MUTANT describes into a copy of gpu/, builds it with BUILD's own
# commands, and checks that the fault is caught. README.md tells the format of MUTANT.
#
# BUILD is the release build for faults that the verdict or a test must catch, a sanitizer's build for
# those that the sanitizer must. Only the sources that the mutant names are compiled again; every other
# object is BUILD's, but that the check of problems is the object CHECK where attention is compiled for
# the head dimension 32 alone. Of sources that BUILD compiles as one (plumbline_as_one) those alone are
# compiled again, and the linker prefers them to BUILD's object, which has the others. With `device`, nvcc compiles the sources, and the software device must catch
# the fault in the PTX that it makes of them; with `gpu`, the verdict must on this machine's GPU.
set -euo pipefail
mutant=$1
source_dir=$(readlink -f "$2")
build=$(readlink -f "$3")
scratch=$4
check=$(readlink -f "$5")
on_device=${6:-}

die() {
  printf '%s: %s\n' "$(basename "$mutant")" "$1" >&2
  exit 1
}

# ---- what to do -------------------------------------------------------------------------------

# The value of the line "key: value".
field() { sed -n "/^<<<\$/q; s/^$1: *//p" "$mutant"; }

# The N-th block between <<< and >>>, with its last line break taken off.
block() {
  awk -v wanted="$1" '
    $0 == "<<<" { count++; inside = 1; next }
    $0 == ">>>" { inside = 0; next }
    inside && count == wanted' "$mutant"
}

file=$(field file)
caught_by=$(field caught_by)
sources=$(field sources)
read -r -a arguments <<<"$(field run)"
if [ -n "$on_device" ]; then
  read -r caught_by own <<<"$(field device)"
  [ -z "$own" ] || read -r -a arguments <<<"$own"
fi
case "$on_device:$caught_by" in
  device:verdict | device:checks | device:nothing | gpu:verdict | gpu:nothing)
    product=lib/software-device/libplumbline_kernels_cuda.so ;;
  device:test) product=bin/$(field program)_for_software ;;
  device:*) die "on the device caught by '$caught_by', not verdict, checks, test or nothing" ;;
  gpu:*) die "on a GPU caught by '$caught_by', which only the software device does" ;;
  :verdict | :nothing) product=lib/libplumbline_kernels_emulated.so ;;
  :test) product=bin/$(field program) ;;
  :address | :thread)
    product=bin/$(field program)
    [ "$product" != bin/ ] || product=bin/kernel_runner ;;
  *) die "caught_by is '$caught_by', not verdict, test, address, thread or nothing" ;;
esac
[ "$product" != bin/ ] || die "names no program"
[ -n "$sources" ] || die "names no sources"

# ---- plant it ---------------------------------------------------------------------------------

mkdir -p "$scratch"
rm -rf "$scratch/gpu" "$scratch/gates"
cp -r "$source_dir/gpu" "$scratch/gpu"
if [ -n "$file" ]; then
  old=$(block 1)
  new=$(block 2)
  text=$(cat "$source_dir/$file" && echo x)
  text=${text%x}
  [ -n "$old" ] || die "has no old text"
  [ "$old" != "$new" ] || die "changes nothing"
  before=${text%%"$old"*}
  [ "$before" != "$text" ] || die "its old text does not occur in $file: bring it up to date"
  after=${text#"$before$old"}
  case "$after" in *"$old"*) die "its old text occurs more than once in $file: make it longer" ;; esac
  printf '%s' "$before$new$after" >"$scratch/$file"
  # The fault's lines in the copy, and three on either side.
  first_line=$(($(wc -l <<<"$before") - 3))
  last_line=$((first_line + $(wc -l <<<"$new") + 5))
fi

# ---- build it ---------------------------------------------------------------------------------

# nvcc's command without machine code, whose making is most of the work.
ptx_alone() {
  local ptx=compute_80
  [[ $1 != */wgmma*.cu* ]] || ptx=compute_90a
  sed -E "s/ (--generate-code|-gencode)[= ][^ ]+| -O[0-9]| -g//g
    s/\$/ --generate-code arch=$ptx,code=$ptx/" <<<"$1"
}

# Ninja's own commands for the product, those of the named sources turned towards the copy.
commands=$(ninja -C "$build" -t commands "$product")
link=$(tail -n 1 <<<"$commands")
mutated=$scratch/$(basename "$product")
front=
compiled=0
# Hardly optimised, and attention for one head dimension, or for those that the mutant names: a tenth
# of the compiler's work. A program of its own asks for all of them, unless its mutant names some.
head_dims=$(field head_dims)
quick=-O1
case "$on_device$caught_by:$sources" in
  device* | gpu*)
    head_dims=${head_dims%%,*}
    head_dims=${head_dims:-32} ;;
  verdict:*attention/* | nothing:*attention/*)
    if [ -n "$head_dims" ]; then
      sources="$sources attention/check_problem.cu"
    else
      head_dims=32
      front=" $check"
    fi ;;
esac
[ -z "$head_dims" ] || quick="-UPLUMBLINE_HEAD_DIMS -DPLUMBLINE_HEAD_DIMS=$head_dims -O1"
while IFS= read -r command; do
  [[ $command =~ \ -c\ ([^ ]+) ]] || continue
  source=${BASH_REMATCH[1]}
  [[ $command =~ \ -o\ ([^ ]+) ]] || die "a command without -o: $command"
  object=${BASH_REMATCH[1]}
  parts=$source replaced=$object
  case "$source" in "$build"/gpu/as_one/*) # what it includes
    parts=$(sed -n "s,^#include \"\(.*\)\",$source_dir/gpu/\1,p" "$source") replaced= ;;
  esac
  for part in $parts; do
    for pattern in $sources; do
      # shellcheck disable=SC2254 # the mutant's patterns are patterns
      case "$part" in
        "$source_dir"/gpu/$pattern) ;;
        "$build"/*/"$(basename "$product")".dir/Unity/*) [ "$pattern" = program ] || continue ;;
        *) continue ;;
      esac
      new_object=$scratch/$(basename "$part").o
      planted=${command//" -c $source"/" -c $part"}
      planted=${planted//"$source_dir/gpu"/"$scratch/gpu"}
      planted=${planted//"$object"/"$new_object"}
      [ -z "$on_device" ] || planted=$(ptx_alone "$planted")
      (cd "$build" && eval "$planted $quick") || die "does not compile"
      [ -z "$replaced" ] || link=${link//" $replaced"/}
      front="$front $new_object"
      compiled=$((compiled + 1))
      break
    done
  done
done <<<"$commands"
[ $compiled -gt 0 ] || die "no source of $product matches '$sources'"

# The mutated objects come first: of what several objects hold, the linker takes the first.
read -r colon and compiler rest <<<"$link" # ": && c++ ...", as CMake writes it
link="$colon $and $compiler -Wl,-z,muldefs$front ${rest/" -o $product"/" -o $mutated"}"
(cd "$build" && eval "$link") || die "does not link"

# ---- run it -----------------------------------------------------------------------------------

status=0
case "$caught_by" in
  test)
    LD_LIBRARY_PATH=$build/lib/software-device${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
      "$mutated" "${arguments[@]}" >"$scratch/output" 2>&1 || status=$? ;;
  address | thread)
    "$(dirname "$0")/run_sanitized.sh" "$mutated" "${arguments[@]}" >"$scratch/output" 2>&1 ||
      status=$? ;;
  *)
    [ -z "$on_device" ] || arguments+=(--head-dims "$head_dims")
    [ "$on_device" != device ] || arguments+=(--device software)
    "$build/bin/plumbline" verify --kernel "$mutated" --seed 1 "${arguments[@]}" \
      >"$scratch/output" 2>&1 || status=$? ;;
esac

cat "$scratch/output"
[ $status != 77 ] || exit 77

# Whether the report names one of the lines that `reported_at` tells.
names_reported_at() {
  local where text line
  while read -r where text; do
    while IFS=: read -r line _; do
      ! grep -Eq "$(basename "$where"):$line\b" "$scratch/output" || return 0
    done < <(grep -nF -- "$text" "$scratch/$where")
  done < <(field reported_at)
  return 1
}

# Whether the report names a line of the fault, or one near it.
names_the_fault() {
  local line
  for ((line = first_line; line <= last_line; ++line)); do
    ! grep -Eq "$(basename "$file"):$line\b" "$scratch/output" || return 0
  done
  return 1
}

stopped="the software device stopped the kernel: "
at=
case "$caught_by" in
  checks)
    [ $status = 1 ] || die "ended with status $status; a kernel that is stopped is status 1"
    grep -q "$stopped" "$scratch/output" || die "the device did not stop the kernel"
    if names_the_fault; then at="its line"
    elif names_reported_at; then at="the access"
    else die "the report names neither a line of the fault nor one of reported_at"
    fi ;;
  nothing)
    [ $status = 0 ] || die "is no fault, but was taken for one (status $status)" ;;
  verdict)
    [ $status = 1 ] || die "ended with status $status; a verdict against it is status 1"
    grep -q FAIL "$scratch/output" || die "the report names no failure"
    ! grep -q "$stopped" "$scratch/output" || die "the device stopped the kernel: that is \`checks\`" ;;
  test)
    failed=201 words="error: in" # Boost.Test's
    [ -z "$on_device" ] || failed=1 words="FAILED: "
    [ $status = $failed ] || die "ended with status $status; failed checks are status $failed"
    grep -q "$words" "$scratch/output" || die "the report names no failure" ;;
  *)
    [ $status != 0 ] || die "was not caught by the $caught_by sanitizer"
    grep -q "Sanitizer" "$scratch/output" || die "ended with status $status, but no sanitizer reported"
    names_reported_at || die "the report names none of the lines of $(field reported_at | paste -sd ';')" ;;
esac

# ---- what caught it, for table.py --------------------------------------------------------------

case "$caught_by" in
  checks) # why the kernel was stopped, and where
    sed -n "s/^ *$stopped//p" "$scratch/output" | sed -E 's/; in .*//
      s/.* of the same warp wrote .*/race of two lanes/; s/.*no barrier is between them.*/race of two warps/
      s/.*is under way.*/a copy not waited for/; s/.*nothing has written.*/memory that nothing wrote/
      s/.*(memory, of which it has|end of|before the|no allocation).*/out of bounds/'"; s/\$/; $at/" ;;
  verdict) # the outputs that failed, or what the kernel did instead of giving any
    sed -n -e 's/^  \([a-zA-Z_]*\): [1-9][0-9]* of [0-9]* elements fail.*/\1/p' \
      -e 's/^  \([a-zA-Z_]*\): errors are biased.*/bias of \1/p' \
      -e 's/^  \([a-zA-Z_]*\): errors of all rows.*/trend of \1/p' \
      -e 's/^  \([a-zA-Z_]*\): errors are jointly.*/size of all errors of \1/p' \
      -e 's/^  the kernel \(returned\|changed\|wrote outside\|gave other bits\|crashed\|did not return\).*/the kernel \1/p' \
      "$scratch/output" ;;
  test) sed -n -e 's/.*error: in "\([^"]*\)".*/\1/p' -e 's/^FAILED: .*: //p' "$scratch/output" ;;
  *) echo "$caught_by" ;;
esac | sort -u >"$scratch/gates"
