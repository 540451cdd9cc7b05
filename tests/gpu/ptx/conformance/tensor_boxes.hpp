// SPDX-License-Identifier: Apache-2.0
// Boxes of tensors: programs that load and store one, and what they must leave.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_TENSOR_BOXES_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_TENSOR_BOXES_HPP

#include "tests/gpu/ptx/conformance/program.hpp"

namespace plumbline::ptx::conformance {

/// CUtensorMapDataType.
namespace tensor_types {
enum : std::uint32_t { u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz };
}
inline constexpr unsigned bytes_of_type[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

/// Coordinates of a box's first element.
using Start = std::vector<int>;
/// "{1, 2}"
std::string coordinates(const Start& start);

unsigned box_bytes(const Map& map);
std::size_t tensor_bytes(const Map& map);

/// A load; all threads execute `change` before it, which makes the map `changed`.
Experiment& add_load(Family& family, const std::string& form, const Map& map, const Start& start,
                     const std::string& change = "", const Map* changed = nullptr);

/// What becomes of an element of the tensor, by its bytes and those of the box.
using Update = std::function<void(std::byte* there, const std::byte* here)>;

/// A store or a reduction of a box. Without `tensor` and `box` they are drawn.
Experiment& add_store(Family& family, const std::string& form, const std::string& instruction,
                      const Map& map, const Start& start, const Update& update, Buffer tensor = {},
                      Buffer box = {});

}  // namespace plumbline::ptx::conformance

#endif
