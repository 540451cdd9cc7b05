// SPDX-License-Identifier: Apache-2.0
// Token numbers that come from outside are checked where they are used: by the host where it has
// them, else by a kernel. That cannot throw: it reports the first bad one, and the host, which
// waits for it, throws.
#ifndef PLUMBLINE_GPU_OPS_CHECK_IDS_CUH
#define PLUMBLINE_GPU_OPS_CHECK_IDS_CUH

#include "core/launch.cuh"

namespace plumbline::gpu {

/// Which ids count.
struct CountedIds {
  bool some_are_ignored = false;
  int ignored = 0;                          ///< the id that stands for "none"
  const unsigned char* selected = nullptr;  ///< [count]: others than 0 count; null: all do
};

/// How many of ids[0 .. count - 1], in device memory, count; those must be in [0, rows).
/// @throws std::invalid_argument "NAME[n] is ID, must be 0 to ROWS - 1 ..." of the first one that
/// is not, and unless count >= 1 and rows >= 1.
int check_ids(const Stream& stream, const char* name, const int* ids, int count, int rows,
              const CountedIds& counted = {});

/// The same of ids, and `selected`, in the host's memory.
int check_ids_on_host(const char* name, const int* ids, int count, int rows,
                      const CountedIds& counted = {});

}  // namespace plumbline::gpu

#endif
