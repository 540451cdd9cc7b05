// SPDX-License-Identifier: Apache-2.0
// What nvcc embeds in a program beside the host's code: a container ("fat binary") with one entry
// for each architecture, of machine code or of PTX, compressed or not. Its format is not
// documented; this is what nvcc 12 and 13 write.
#ifndef PLUMBLINE_GPU_PTX_CUDA_FAT_BINARY_HPP
#define PLUMBLINE_GPU_PTX_CUDA_FAT_BINARY_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace plumbline::ptx::cuda {

/// Bytes that the device cannot run.
class BadFatBinary : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bytes that are no fat binary, or one that ends too soon or contradicts itself.
class DamagedFatBinary : public BadFatBinary {
 public:
  using BadFatBinary::BadFatBinary;
};

/// PTX longer than this is refused: a few bytes may claim any size.
inline constexpr std::uint64_t most_ptx_bytes = std::uint64_t{256} << 20;

/// PTX, or machine code.
struct PtxEntry {
  std::uint32_t architecture = 0;  ///< 80 of compute_80, 90 of compute_90 and of compute_90a
  enum class Packing { none, lz4, zstd } packing = Packing::none;
  std::span<const std::byte> stored;
  std::uint64_t size = 0;  ///< unpacked

  /// Unpacked; PTX ends where zeros fill it up. Throws BadFatBinary.
  std::string bytes() const;
  std::string text() const;
};

struct FatBinary {
  std::vector<PtxEntry> ptx;
  std::vector<std::uint32_t> machine_code;   ///< its architectures
  std::vector<PtxEntry> machine_code_files;  ///< of these, those that can be unpacked
};

/// The container that begins here; the entries point into it. Throws BadFatBinary.
FatBinary read_fat_binary(std::span<const std::byte> container);

/// The bytes of the container that begins here, as many as its own header says. Throws
/// BadFatBinary.
std::span<const std::byte> container_at(const void* bytes);

/// What __cudaRegisterFatBinary is given: the bytes of the container that it points to, as many as
/// its own header says. Throws BadFatBinary, also for code compiled with -rdc=true, which is
/// linked when the program starts.
std::span<const std::byte> registered_container(const void* wrapper);

}  // namespace plumbline::ptx::cuda

#endif
