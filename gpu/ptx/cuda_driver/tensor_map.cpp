// SPDX-License-Identifier: Apache-2.0
// Tensor maps, for the copies of tensors that Hopper has. Those of images (im2col) are not there.
#include "ptx/tensor_map.hpp"

#include "ptx/cuda_driver/driver.hpp"

using namespace plumbline::ptx;
using namespace plumbline::ptx::cuda;
using plumbline::ptx::cuda_driver::Needs;
using plumbline::ptx::cuda_driver::run;

PLUMBLINE_CUDA Error cuTensorMapEncodeTiled(TensorMap* map, std::uint32_t type, std::uint32_t rank,
                                            void* address, const std::uint64_t* sizes,
                                            const std::uint64_t* strides, const std::uint32_t* box,
                                            const std::uint32_t* steps, std::uint32_t interleave,
                                            std::uint32_t swizzle, std::uint32_t l2_promotion,
                                            std::uint32_t fill) {
  return run(Needs::init, [&](Process&) {
    encode_tiled(map, type, rank, address, sizes, strides, box, steps, interleave, swizzle,
                 l2_promotion, fill);
  });
}

/// The same with another tensor.
PLUMBLINE_CUDA Error cuTensorMapReplaceAddress(TensorMap* map, void* address) {
  return run(Needs::init, [&](Process&) {
    expect(map != nullptr && reinterpret_cast<std::uintptr_t>(map) % alignof(TensorMap) == 0);
    expect(map->mark == TensorMap::valid_mark && address != nullptr);
    TensorMap replaced = *map;
    replaced.address = reinterpret_cast<std::uint64_t>(address);
    expect(replaced.wrong().empty());
    *map = replaced;
  });
}
