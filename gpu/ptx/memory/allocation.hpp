// SPDX-License-Identifier: Apache-2.0
// Global memory: registered ranges of host memory.
#ifndef PLUMBLINE_GPU_PTX_MEMORY_ALLOCATION_HPP
#define PLUMBLINE_GPU_PTX_MEMORY_ALLOCATION_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ptx/device.hpp"

namespace plumbline::ptx {

/// What isspacep tells apart.
enum class Window : std::uint8_t { global, constant, parameters };

struct Allocation {
  Address begin = 0, end = 0;
  /// A byte for each 4 bytes: bit i says that byte i is initialised. Null: all are.
  std::uint8_t* initialised = nullptr;
  bool writable = true;
  std::string name;  ///< of a variable of a module, or empty
  Window window = Window::global;
};

/// The live allocations, for the time of a launch, and those that have been freed.
class Allocations {
 public:
  Allocations();
  ~Allocations();
  Allocations(const Allocations&) = delete;
  Allocations& operator=(const Allocations&) = delete;

  /// `limit` of all together. Throws Refused (out_of_memory).
  Address allocate(std::size_t bytes, std::size_t limit, const std::string& name = "",
                   Window window = Window::global);
  void release(Address address);
  /// All bytes of the allocation that begins here are 0, and initialised for good; the host gives
  /// pages for those that are used.
  void clear(Address address);
  void adopt(void* memory, std::size_t bytes, bool writable, const std::string& name = "",
             Window window = Window::global);
  void forget(void* memory);

  /// The allocation that has this byte, or null.
  const Allocation* find(Address address) const;
  /// Throws Refused (invalid_value) where no allocation has all the bytes.
  const Allocation& require(Address address, std::size_t bytes) const;
  /// All these bytes are initialised from now on.
  void initialise(Address address, std::size_t bytes);
  /// Where the copy's source is not initialised, its target is not.
  void copy_initialised(Address to, Address from, std::size_t bytes);

  /// A sentence on what is at an address that is not valid: which allocation is near, by how many
  /// bytes it was missed, whether it was freed.
  std::string describe(Address address, std::size_t bytes, bool& freed) const;

 private:
  struct Arena;
  bool in_arena(Address address) const;
  std::map<Address, Allocation> live_;              ///< by `end`
  std::vector<std::pair<Address, Address>> freed_;  ///< the latest last
  std::unique_ptr<Arena> arena_;
  std::size_t used_ = 0;
};

}  // namespace plumbline::ptx

#endif
