// SPDX-License-Identifier: Apache-2.0
#include "attention/wgmma_forward.cuh"

namespace plumbline::gpu {

template void wgmma_forward_in<float16>(const Stream&, const Task&, const Outputs&);

}  // namespace plumbline::gpu
