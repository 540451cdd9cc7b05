// SPDX-License-Identifier: Apache-2.0
#include "attention/mma_forward.cuh"

namespace plumbline::gpu {

template void mma_forward_in<tf32>(const Stream&, const Task&, const Outputs&);

}  // namespace plumbline::gpu
