// SPDX-License-Identifier: Apache-2.0
#include "attention/2_tiled.cuh"

namespace plumbline::gpu {

void tiled_forward(const Stream& stream, const Task& task, const Outputs& outputs) {
  dispatch<tiled::Variant>(stream, task, outputs);
}

}  // namespace plumbline::gpu
