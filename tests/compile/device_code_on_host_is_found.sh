#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: device_code_on_host_is_found.sh COMPILER BUILD
# The check of device code on the host can fail: it must name the planted function, and that alone.
# Without nvcc (COMPILER is g++) the stand-in is planted as nvcc 13 writes it.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
compiler=$1
build=$2
rm -rf "$build"
trap 'rm -rf "$build"' EXIT # or the check of the whole build would find what is planted
mkdir -p "$build/planted_cuda.dir"

compile() {
  case $compiler in
    *nvcc) "$compiler" -O2 -w -c -o "$1.o" "$1" ;;
    *) "$compiler" -O2 -w -x c++ -c -o "$1.o" "$1" ;;
  esac
}

die() {
  printf '%s\n' "$@" >&2
  exit 1
}

if message=$("$here/device_code_on_host.sh" "$build" 2>&1); then
  die "nothing was built, and it passed:" "$message"
fi

cat >"$build/planted_cuda.dir/clean.cu" <<'END'
#ifdef __CUDACC__
__device__ int unused() { return 1; }
#else
#include <cstdlib>
int unused() {
  int volatile ___ = 1;
  ::exit(___);
}
#endif
int at_peace(int n) { return 2 * n; }
END
compile "$build/planted_cuda.dir/clean.cu"
nm "$build/planted_cuda.dir/clean.cu.o" | grep -q ' U exit$' || die "no stand-in was written"
message=$("$here/device_code_on_host.sh" "$build" 2>&1) || die "a clean object fails:" "$message"

# In line, and by a call.
cat >"$build/planted_cuda.dir/faulty.cu" <<'END'
#ifdef __CUDACC__
struct OnDevice {
  __device__ static int number() { return 1; }
  __device__ __noinline__ static int far_number() { return 1; }
};
#else
#include <cstdlib>
struct OnDevice {
  static int number() {
    int volatile ___ = 1;
    ::exit(___);
  }
  __attribute__((noinline)) static int far_number() {
    int volatile ___ = 1;
    ::exit(___);
  }
};
#endif
template <class T>
int of(int n) {
  return n > 2 ? T::number() : n;
}
template <class T>
int far_of(int n) {
  return n > 2 ? T::far_number() : n;
}
int near_planted(int n) { return of<OnDevice>(n) + n; }
int far_planted(int n) { return far_of<OnDevice>(n) + n; }
END
compile "$build/planted_cuda.dir/faulty.cu"
if message=$("$here/device_code_on_host.sh" "$build" 2>&1); then
  die "the planted calls were not found:" "$message"
fi
echo "$message"
for name in near_planted far_planted; do
  grep -q "faulty.cu.o: $name(int)" <<<"$message" || die "$name is not named"
done
! grep -qE 'clean.cu|at_peace|unused' <<<"$message" || die "the clean object is named"
