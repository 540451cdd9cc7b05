// SPDX-License-Identifier: Apache-2.0
#include "attention/mma_forward.cuh"

namespace plumbline::gpu {

template void mma_skipping_forward_in<float16>(const Stream&, const Task&, const Outputs&);

}  // namespace plumbline::gpu
