// SPDX-License-Identifier: Apache-2.0
#include "attention/wgmma_backward_keys.cuh"

namespace plumbline::gpu {

template void wgmma_backward_keys_in<bfloat16>(const Stream&, const Task&, const BackwardArrays&);

}  // namespace plumbline::gpu
