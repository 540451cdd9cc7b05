// SPDX-License-Identifier: Apache-2.0
// What machine code tells about a kernel: the registers that ptxas gave it.
#ifndef PLUMBLINE_GPU_PTX_CUDA_MACHINE_CODE_HPP
#define PLUMBLINE_GPU_PTX_CUDA_MACHINE_CODE_HPP

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace plumbline::ptx::cuda {

/// The registers of a thread of each kernel, by its mangled name, of a file that ptxas has made: an
/// ELF file whose section .nv.info has them. Its format is not documented; this is what ptxas 12
/// and 13 write. What cannot be read has none.
std::map<std::string, std::uint32_t> registers_in(std::string_view cubin);

}  // namespace plumbline::ptx::cuda

#endif
