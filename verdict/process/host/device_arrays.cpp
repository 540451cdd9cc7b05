// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/host/device_arrays.hpp"

#include <algorithm>
#include <cstring>

#include "verdict/process/guards.hpp"

namespace plumbline::kernel_process {

std::vector<void*> GpuArrays::upload(std::span<const HostArray> arrays) {
  places_.clear();
  std::size_t used = 0;
  for (const HostArray& array : arrays) {
    const std::size_t begin = (used + margin + alignment - 1) / alignment * alignment,
                      end = begin + array.bytes.size();
    places_.push_back({used, begin, end, end + margin, array.is_output});
    used = end + margin;
  }
  sent_.resize(used);
  received_.resize(used);
  std::vector<void*> addresses;
  driver_.make_current();
  reserve(used);
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const auto& [margin_begin, begin, end, margin_end, is_output] = places_[n];
    std::fill(sent_.begin() + margin_begin, sent_.begin() + margin_end,
              is_output ? canary : unwritten);
    if (is_output) {
      std::fill(sent_.begin() + begin, sent_.begin() + end, unwritten);
    } else {
      std::copy(arrays[n].bytes.begin(), arrays[n].bytes.end(), sent_.begin() + begin);
    }
    addresses.push_back(reinterpret_cast<void*>(memory_ + begin));
  }
  driver_.to_device(memory_, sent_.data(), used);
  return addresses;
}

std::optional<Damage> GpuArrays::download() {
  driver_.make_current();
  driver_.synchronize();
  driver_.to_host(received_.data(), memory_, received_.size());
  const auto damage = [&](std::size_t array, std::size_t from, std::size_t to,
                          bool of_input) -> std::optional<Damage> {
    const auto changed = first_changed(from, to);
    if (!changed) return std::nullopt;
    return Damage{array, static_cast<std::ptrdiff_t>(*changed - places_[array].begin), of_input};
  };
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const Place& place = places_[n];
    if (const auto before = damage(n, place.margin_begin, place.begin, false)) return before;
    if (const auto after = damage(n, place.end, place.margin_end, false)) return after;
  }
  for (std::size_t n = 0; n < places_.size(); ++n) {
    if (places_[n].is_output) continue;
    if (const auto inside = damage(n, places_[n].begin, places_[n].end, true)) return inside;
  }
  return std::nullopt;
}

void GpuArrays::copy_outputs(std::span<const HostArray> arrays) const {
  for (std::size_t n = 0; n < arrays.size(); ++n) {
    const Place& place = places_[n];
    if (!place.is_output) continue;
    std::copy(received_.begin() + place.begin, received_.begin() + place.end,
              arrays[n].bytes.begin());
  }
}

void GpuArrays::reserve(std::size_t bytes) {
  if (bytes <= size_) return;
  if (size_ > 0) driver_.free(memory_);
  size_ = 0;
  memory_ = driver_.allocate(bytes);
  size_ = bytes;
}

std::optional<std::size_t> GpuArrays::first_changed(std::size_t from, std::size_t to) const {
  if (std::memcmp(sent_.data() + from, received_.data() + from, to - from) == 0) {
    return std::nullopt;
  }
  const auto [sent, received] =
      std::mismatch(sent_.begin() + from, sent_.begin() + to, received_.begin() + from);
  return sent - sent_.begin();
}

}  // namespace plumbline::kernel_process
