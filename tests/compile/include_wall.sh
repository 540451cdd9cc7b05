#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: include_wall.sh SOURCE BUILD
# gpu/ sees itself, kernel_abi/ and support/ (errors, files), and no other folder: proved by the
# dependencies that the compiler itself wrote for every object of gpu/ (`ninja -t deps`), not by
# reading #include lines.
set -euo pipefail
source_dir=$(readlink -f "$1")
build_dir=$(readlink -f "$2")

# -n: only read the log of dependencies, since a build or another test may be reading it too.
dependencies=$(ninja -C "$build_dir" -n -t deps)
# What a source has left behind that is gone is no part of the build.
known=$(ninja -C "$build_dir" -n -t targets all | sed -n 's/^\(gpu\/.*\.o\): .*/\1/p' | sort)
built=$(comm -12 <(cd "$build_dir" && find gpu -name '*.o' | sort) <(printf '%s\n' "$known"))

# object <tab> file, one line a dependency of an object of gpu/. Relative names count from the
# build folder.
pairs=$(awk -v build="$build_dir/" '
  /^[^ ].*: #deps / { object = $1; sub(/:$/, "", object); next }
  /^    / && object ~ /^gpu\// { file = substr($0, 5); if (file !~ /^\//) file = build file
                                 print object "\t" file }' <<<"$dependencies")

recorded=$(cut -f 1 <<<"$pairs" | sort -u)
if [ -z "$recorded" ]; then
  echo "include wall: no dependencies of gpu/ are recorded; build first" >&2
  exit 1
fi
missing=$(comm -23 <(printf '%s\n' "$built") <(printf '%s\n' "$recorded"))
if [ -n "$missing" ]; then
  printf 'include wall: built without recorded dependencies:\n%s\n' "$missing" >&2
  exit 1
fi

status=0
while IFS=$'\t' read -r file; do
  real=$(readlink -f "$file") || continue # a generated file that is gone
  case "$real" in
    "$build_dir"/*) ;; # generated files
    "$source_dir"/gpu/* | "$source_dir"/kernel_abi/* | "$source_dir"/support/*) ;;
    "$source_dir"/*)
      echo "include wall: ${real#"$source_dir"/} is reached from" >&2
      awk -F '\t' -v file="$file" '$2 == file { print "  " $1 }' <<<"$pairs" >&2
      status=1 ;;
  esac
done < <(cut -f 2 <<<"$pairs" | sort -u)
[ $status != 0 ] ||
  echo "include wall: $(wc -l <<<"$recorded") objects of gpu/ reach no file of another folder"
exit $status
