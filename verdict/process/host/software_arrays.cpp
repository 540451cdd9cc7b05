// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/software_arrays.hpp"

#include <cstdint>
#include <cstring>

#include "verdict/process/guards.hpp"

namespace plumbline::kernel_process {

std::vector<void*> SoftwareArrays::upload(std::span<const HostArray> arrays) {
  while (!places_.empty()) {
    driver_.free(places_.back().address);
    places_.pop_back();
  }
  std::vector<void*> pointers;
  for (const HostArray& array : arrays) {
    const std::size_t bytes = array.bytes.size();
    const DeviceAddress address =
        array.is_output ? driver_.allocate(bytes) : device_.input(array.bytes.data(), bytes);
    places_.push_back({address, bytes});
    auto* pointer = reinterpret_cast<void*>(address);
    // Past the device, which takes for initialised what it has copied itself.
    if (array.is_output) std::memset(pointer, static_cast<int>(unwritten), bytes);
    pointers.push_back(pointer);
  }
  return pointers;
}

std::optional<Damage> SoftwareArrays::download() {
  driver_.synchronize();
  return std::nullopt;  // the device lets a kernel do none
}

void SoftwareArrays::copy_outputs(std::span<const HostArray> arrays) const {
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    if (!arrays[n].is_output) continue;
    driver_.to_host(arrays[n].bytes.data(), places_[n].address, arrays[n].bytes.size());
  }
}

SoftwareArrays::Trouble SoftwareArrays::trouble() const {
  Trouble trouble = device_.trouble();
  locate(trouble);
  return trouble;
}

void SoftwareArrays::locate(Trouble& trouble) const {
  if (trouble.address == 0) return;
  const DeviceAddress address = trouble.address;
  // Farther off, it is not said to be a slip beyond an array.
  std::uint64_t nearest = std::uint64_t{1} << 20;
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const auto& [begin, bytes] = places_[n];
    const std::uint64_t distance = address < begin           ? begin - address
                                   : address - begin < bytes ? 0
                                                             : address - begin - bytes + 1;
    if (distance >= nearest) continue;
    nearest = distance;
    trouble.array = n;
    trouble.offset = static_cast<std::ptrdiff_t>(address - begin);
  }
}

}  // namespace plumbline::kernel_process
