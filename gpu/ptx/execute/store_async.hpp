// SPDX-License-Identifier: Apache-2.0
// st.async and red.async: values of a thread to the shared memory of a cluster, whose bytes count
// at an mbarrier there.
#ifndef PLUMBLINE_GPU_PTX_EXECUTE_STORE_ASYNC_HPP
#define PLUMBLINE_GPU_PTX_EXECUTE_STORE_ASYNC_HPP

#include "ptx/execute/bulk.hpp"

namespace plumbline::ptx {

/// `extra`: a BulkCopy, of which `coordinates` is the first value, `rank` their number,
/// `element_bytes` what each has.
Outcome store_async(Warp& warp, const Operation& operation);

}  // namespace plumbline::ptx

#endif
