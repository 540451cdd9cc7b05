// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/error.hpp"

namespace plumbline::kernel_process {
namespace {

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

[[noreturn]] void lacks(const char* what) {
  throw MachineLacks(std::string("memory to share with the kernel's process: ") + what + ": " +
                     std::strerror(errno));
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Segment::Segment(std::uint64_t bytes, Kind kind)
    : descriptor_(memfd_create("plumbline", MFD_CLOEXEC | MFD_ALLOW_SEALING)), bytes_(bytes) {
  if (descriptor_.get() < 0) lacks("memfd_create");
  if (ftruncate(descriptor_.get(), static_cast<off_t>(bytes)) != 0) lacks("ftruncate");
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_.get(), 0);
  if (memory == MAP_FAILED) lacks("mmap");
  memory_ = static_cast<std::byte*>(memory);
  // Before Linux 5.1 there is no such seal; the inputs are then shown read-only all the same.
  int seals = F_SEAL_SHRINK | F_SEAL_GROW;
  if (kind == Kind::inputs) fcntl(descriptor_.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE);
  if (fcntl(descriptor_.get(), F_ADD_SEALS, seals) != 0) lacks("F_ADD_SEALS");
}

Segment::~Segment() { munmap(memory_, bytes_); }

CallLayout layout_of(const KernelCall& call) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  CallLayout layout;
  std::uint64_t address = guard_span;
  const auto add = [&](std::int32_t slot, const std::string& name, std::uint64_t bytes,
                       bool is_output) {
    std::uint64_t& used = is_output ? layout.output_bytes : layout.input_bytes;
    const std::uint64_t page_bytes = rounded_up(bytes, page);
    layout.places.push_back({.slot = slot,
                             .is_output = is_output,
                             .file_offset = used,
                             .page_bytes = page_bytes,
                             .page_offset = address,
                             .begin = page_bytes - rounded_up(bytes, array_alignment),
                             .bytes = bytes});
    layout.names.push_back(name);
    used += page_bytes;
    address += page_bytes + guard_span;
  };
  for (const auto& input : call.inputs) add(input.slot, input.name, input.bytes, false);
  for (const auto& output : call.outputs) add(output.slot, output.name, output.bytes, true);
  return layout;
}

void lay_out(const KernelCall& call, const CallLayout& layout, const Segment& inputs,
             const Segment& outputs) {
  auto place = layout.places.begin();
  for (const auto& input : call.inputs) {
    const auto pages = inputs.at(place->file_offset, place->page_bytes);
    std::fill_n(pages.begin(), place->begin, unwritten);
    std::memcpy(pages.data() + place->begin, input.data, input.bytes);
    std::fill(pages.begin() + place->begin + input.bytes, pages.end(), unwritten);
    ++place;
  }
  for (; place != layout.places.end(); ++place) {
    const auto pages = outputs.at(place->file_offset, place->page_bytes);
    std::fill_n(pages.begin(), place->begin, canary);
    std::fill_n(pages.begin() + place->begin, place->bytes, unwritten);
    std::fill(pages.begin() + place->begin + place->bytes, pages.end(), canary);
  }
}

CallEnd collect(const KernelCall& call, const CallLayout& layout, const Segment& outputs) {
  const std::size_t first = call.inputs.size();
  for (std::size_t n = 0; n < call.outputs.size(); ++n) {
    const ArrayPlace& place = layout.places[first + n];
    const auto pages = outputs.at(place.file_offset, place.page_bytes);
    if (const auto damage = first_changed(pages, place.begin, place.bytes)) {
      CallEnd end;
      end.kind = failure_kind::wrote_outside;
      end.failure = outside_words(call.outputs[n].name, *damage);
      return end;
    }
  }
  for (std::size_t n = 0; n < call.outputs.size(); ++n) {
    const ArrayPlace& place = layout.places[first + n];
    const auto array = outputs.at(place.file_offset + place.begin, place.bytes);
    call.outputs[n].into->assign(array.begin(), array.end());
  }
  return {};
}

}  // namespace plumbline::kernel_process
