// SPDX-License-Identifier: Apache-2.0
#include "ptx/memory/allocation.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace plumbline::ptx {
namespace {

constexpr std::size_t alignment = 256;
constexpr std::size_t red_zone = 256;  ///< between two allocations, at least
constexpr std::size_t kept_freed = 4096;

std::size_t up(std::size_t value, std::size_t align) { return (value + align - 1) / align * align; }

std::string bytes(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

}  // namespace

/// Addresses for allocations: one range of the process, of which pages are used as they are
/// needed. Freed addresses are given again only when the range has been gone through.
struct Allocations::Arena {
  std::byte* begin = nullptr;
  std::size_t size = 0, next = 0;

  Arena() {
    for (std::size_t wanted = std::size_t{1} << 40; wanted >= std::size_t{1} << 28; wanted /= 4) {
      void* p =
          mmap(nullptr, wanted, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p != MAP_FAILED) {
        begin = static_cast<std::byte*>(p);
        size = wanted;
        return;
      }
    }
    throw Refused(Refused::Reason::out_of_memory, "this process has no addresses left");
  }
  ~Arena() { munmap(begin, size); }
};

Allocations::Allocations() = default;

Allocations::~Allocations() {
  for (auto& [end, allocation] : live_) std::free(allocation.initialised);
}

Address Allocations::allocate(std::size_t size, std::size_t limit, const std::string& name,
                              Window window) {
  const std::size_t rounded = up(std::max<std::size_t>(size, 1), alignment);
  if (size > limit || used_ + rounded > limit)
    throw Refused(Refused::Reason::out_of_memory,
                  "an allocation of " + bytes(size) + " beyond the " + bytes(limit) +
                      " of the device, of which " + bytes(used_) + " are in use");
  if (!arena_) arena_ = std::make_unique<Arena>();
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t span = rounded + red_zone;
  std::size_t at = arena_->next;
  bool wrapped = false;
  for (;;) {
    if (at + span > arena_->size) {
      if (wrapped)
        throw Refused(Refused::Reason::out_of_memory, "no free addresses for " + bytes(size));
      wrapped = true;
      at = 0;
    }
    const Address address = reinterpret_cast<Address>(arena_->begin) + at;
    const auto next = live_.lower_bound(address);  // the first that ends at or after it
    if (next == live_.end() || next->second.begin >= address + span) break;
    at = up(next->second.end - reinterpret_cast<Address>(arena_->begin) + red_zone, alignment);
  }
  const Address address = reinterpret_cast<Address>(arena_->begin) + at;
  std::byte* first = arena_->begin + at / page * page;
  const std::size_t length = up(at + rounded, page) - at / page * page;
  std::uint8_t* shadow = static_cast<std::uint8_t*>(std::calloc(rounded / 4 + 8, 1));
  if (!shadow || mprotect(first, length, PROT_READ | PROT_WRITE) != 0) {
    std::free(shadow);
    throw Refused(Refused::Reason::out_of_memory, "the host has no " + bytes(size));
  }
  arena_->next = at + span;
  used_ += rounded;
  live_[address + size] = {address, address + size, shadow, true, name, window};
  freed_.erase(std::remove_if(freed_.begin(), freed_.end(),
                              [&](const auto& range) {
                                return range.first < address + span && range.second > address;
                              }),
               freed_.end());
  return address;
}

bool Allocations::in_arena(Address address) const {
  return arena_ && address - reinterpret_cast<Address>(arena_->begin) < arena_->size;
}

void Allocations::clear(Address address) {
  const auto found = live_.upper_bound(address);
  if (found == live_.end() || found->second.begin != address) return;  // of 0 bytes
  Allocation& a = found->second;
  std::free(a.initialised);
  a.initialised = nullptr;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Address first = std::min(up(a.begin, page), a.end);
  const Address last = std::max(first, a.end / page * page);
  std::memset(reinterpret_cast<void*>(a.begin), 0, first - a.begin);
  std::memset(reinterpret_cast<void*>(last), 0, a.end - last);
  // Whole pages that went back to the host come as zeros.
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

void Allocations::release(Address address) {
  const auto found = live_.upper_bound(address);
  auto at = found;
  // An allocation of 0 bytes ends where it begins.
  if (const auto same = live_.find(address); same != live_.end() && same->second.begin == address)
    at = same;
  if (at == live_.end() || at->second.begin != address || !in_arena(address))
    throw Refused(Refused::Reason::invalid_value, "an address that was not allocated");
  const std::size_t size = at->second.end - at->second.begin;
  const std::size_t rounded = up(std::max<std::size_t>(size, 1), alignment);
  std::free(at->second.initialised);
  freed_.emplace_back(at->second.begin, at->second.end);
  if (freed_.size() > kept_freed) freed_.erase(freed_.begin());
  used_ -= rounded;
  live_.erase(at);
  // Whole pages go back to the host.
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Address first = up(address, page), last = (address + rounded) / page * page;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

void Allocations::adopt(void* memory, std::size_t size, bool writable, const std::string& name,
                        Window window) {
  const auto address = reinterpret_cast<Address>(memory);
  const auto next = live_.upper_bound(address);
  if (!memory || (next != live_.end() && next->second.begin < address + size))
    throw Refused(Refused::Reason::invalid_value, "memory that the device has already, or none");
  live_[address + size] = {address, address + size, nullptr, writable, name, window};
}

void Allocations::forget(void* memory) {
  const auto address = reinterpret_cast<Address>(memory);
  for (auto at = live_.lower_bound(address); at != live_.end(); ++at)
    if (at->second.begin == address && !in_arena(address)) {
      live_.erase(at);
      return;
    } else if (at->second.begin > address) {
      break;
    }
  throw Refused(Refused::Reason::invalid_value, "memory that the device did not adopt");
}

const Allocation* Allocations::find(Address address) const {
  const auto at = live_.upper_bound(address);  // the first that ends after it
  return at == live_.end() || at->second.begin > address ? nullptr : &at->second;
}

const Allocation& Allocations::require(Address address, std::size_t size) const {
  const Allocation* a = find(address);
  if (!a || a->end - address < size)
    throw Refused(Refused::Reason::invalid_value,
                  bytes(size) + " of device memory, of which not all are allocated");
  return *a;
}

void Allocations::initialise(Address address, std::size_t size) {
  const Allocation* a = find(address);
  if (!a || !a->initialised || size == 0) return;
  std::size_t at = address - a->begin;
  const std::size_t end = at + size;
  for (; at < end && at % 4; ++at) a->initialised[at / 4] |= static_cast<std::uint8_t>(1 << at % 4);
  std::memset(a->initialised + at / 4, 0x0f, at < end ? (end - at) / 4 : 0);
  if (at < end) at += (end - at) / 4 * 4;
  for (; at < end; ++at) a->initialised[at / 4] |= static_cast<std::uint8_t>(1 << at % 4);
}

void Allocations::copy_initialised(Address to, Address from, std::size_t size) {
  const Allocation *d = find(to), *s = find(from);
  if (!d || !d->initialised || size == 0) return;
  if (!s || !s->initialised) return initialise(to, size);
  std::vector<std::uint8_t> bits(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = from - s->begin + i;
    bits[i] = s->initialised[at / 4] >> at % 4 & 1;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t at = to - d->begin + i;
    std::uint8_t& byte = d->initialised[at / 4];
    byte = static_cast<std::uint8_t>((byte & ~(1 << at % 4)) | bits[i] << at % 4);
  }
}

std::string Allocations::describe(Address address, std::size_t size, bool& freed) const {
  freed = false;
  for (std::size_t i = freed_.size(); i-- > 0;)
    if (address >= freed_[i].first && address < freed_[i].second) {
      freed = true;
      return "byte " + std::to_string(address - freed_[i].first) + " of an allocation of " +
             bytes(freed_[i].second - freed_[i].first) + " that has been freed";
    }
  const auto named = [](const Allocation& a) {
    return a.name.empty() ? "an allocation of " + bytes(a.end - a.begin)
                          : a.name + " of " + bytes(a.end - a.begin);
  };
  if (const Allocation* inside = find(address))
    return "they begin at byte " + std::to_string(address - inside->begin) + " of " +
           named(*inside) + " and end " + bytes(address + size - inside->end) + " after it";
  if (address < 4096) return "a null pointer";
  const Allocation *before = nullptr, *after = nullptr;
  auto at = live_.upper_bound(address);
  if (at != live_.end()) after = &at->second;
  if (at != live_.begin()) before = &std::prev(at)->second;
  const Address past = before ? address - before->end : ~Address{0};
  const Address ahead = after ? after->begin - address : ~Address{0};
  constexpr Address near = 1 << 20;
  if (past <= ahead && past < near)
    return past == 0 ? "just after the end of " + named(*before)
                     : bytes(past) + " after the end of " + named(*before);
  if (ahead < near) return bytes(ahead) + " before " + named(*after);
  return "no allocation is near";
}

}  // namespace plumbline::ptx
