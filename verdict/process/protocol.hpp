// SPDX-License-Identifier: Apache-2.0
// What the judge and the process of a kernel (host/) say to each other: messages of fixed size over
// a socket, arrays in two shared segments. The judge asks, one question at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "verdict/process/guards.hpp"
#include "verdict/process/kernel_call.hpp"

namespace plumbline::kernel_process {

/// Descriptors that the process finds open beside the standard ones.
enum HostDescriptor {
  host_socket = 3,
  host_inputs = 4,
  host_outputs = 5,
  host_ending = 6,  ///< a pipe; only the process that the judge started has it, not the library's
  host_first_unused = 7
};

/// Between any two arrays lies this much that cannot be touched; a multiple of any page size.
inline constexpr std::uint64_t guard_span = std::uint64_t{1} << 20;
/// Every array starts at a multiple of this, and ends as close to the guard after it as that
/// allows.
inline constexpr std::uint64_t array_alignment = 16;
inline constexpr int most_arrays = slot_count;
/// So many problems at once can supports() be asked about: a message costs more than a question.
inline constexpr int most_problems = 64;
/// Windows of addresses that calls are shown their arrays at, by turns: a thread that a call left
/// behind finds nothing at its addresses, not the arrays of the next call.
inline constexpr int window_count = 8;

/// Where an array of a call lies. Its pages are those of the segment from `file_offset` on.
struct ArrayPlace {
  std::int32_t slot;
  std::int32_t is_output;
  std::uint64_t file_offset;  ///< of the first page, in the segment of inputs or of outputs
  std::uint64_t page_bytes;   ///< whole pages
  std::uint64_t page_offset;  ///< of the first page in the window
  std::uint64_t begin;        ///< of the array, from the first page
  std::uint64_t bytes;
};

enum Question : std::int32_t { ask_supports = 1, ask_call = 2 };

struct Request {
  std::uint64_t number;  ///< the answer repeats it
  std::int32_t question;
  std::int32_t kernel;  ///< of the library
  std::int32_t pass;
  std::int32_t array_count;
  std::int32_t window;                        ///< below window_count
  std::int32_t variation;                     ///< of the software device, where there is one
  double seconds;                             ///< that a call may take
  std::int32_t problem_count;                 ///< 1 of a call
  plumbline_problem problems[most_problems];  ///< pointers: null or not, for supports()
  ArrayPlace arrays[most_arrays];
};

enum Answer : std::int32_t {
  answer_library = 1,  ///< after loading; then one answer_kernel a kernel
  answer_kernel = 2,
  answer_bad_input = 3,      ///< the library cannot be used: text
  answer_machine_lacks = 4,  ///< of loading; of a call before the kernel ran: text
  answer_status = 5,         ///< of a pass; text is the kernel's message. Of supports(), of all
  answer_exception = 6,      ///< text: what(), may be empty
  answer_fault = 7,          ///< a fatal signal; the process is about to die of it
  // Of a kernel that takes device memory.
  answer_wrote_outside = 8,
  answer_changed_input = 9,
  answer_device_error = 10,  ///< after the call the device does nothing any more: text
  /// The software device has stopped the kernel: text, array or -1; status is the DeviceTrouble.
  answer_device_check = 12,
  /// Before the answer, at once: what the software device has noticed, in case that the process
  /// ends without one: as answer_device_check, for any DeviceTrouble.
  answer_device_says = 13,
  // Of a kernel that takes host memory.
  answer_opened_guard = 11  ///< it made memory beside an array accessible, and touched it
};

/// What the software device tells of a kernel; gpu/ptx/cuda/process.hpp has the same numbers.
enum class DeviceTrouble : std::int32_t {
  none = 0,
  fault = 1,         ///< of a kernel, which hardware might not have noticed
  refused = 2,       ///< a call, as CUDA refuses it
  device_lacks = 3,  ///< what a kernel needs and this device has not
  timeout = 4        ///< a fault: a launch took longer than it may
};
inline bool is_fault(DeviceTrouble trouble) {
  return trouble == DeviceTrouble::fault || trouble == DeviceTrouble::timeout;
}

/// The exit status of a process that finds the judge's descriptors closed or changed.
inline constexpr int status_without_descriptors = 117;

enum Access : std::int32_t {
  access_unknown = 0,
  access_read = 1,
  access_write = 2,
  access_run = 3
};

inline constexpr std::size_t text_bytes = 4096;
inline constexpr std::size_t opened_bytes = 4096;

struct Reply {
  std::uint64_t number;
  std::int32_t answer;
  std::int32_t status;                   ///< answer_library: the number of kernels
  std::int32_t supports[most_problems];  ///< answer_status of supports(): of each problem
  char text[text_bytes];                 ///< answer_library: name; answer_kernel: name
  char device[text_bytes];               ///< answer_library
  char variations[text_bytes];           ///< answer_library: of the software device, a line each
  std::uint64_t base;                    ///< answer_library: where the first window begins
  std::int32_t namespaces;               ///< answer_library: whether the process has its own
  std::int32_t memory;                   ///< answer_kernel: plumbline_memory
  plumbline_contract contracts[PLUMBLINE_FORMAT_COUNT];  ///< answer_kernel
  std::int32_t has_pass[PLUMBLINE_PASS_COUNT], deterministic, ignores_hidden_keys;
  std::int32_t signal, code, access;  ///< answer_fault; access: answer_opened_guard
  std::int32_t returned;              ///< answer_fault: the call had returned
  std::int32_t other_thread;          ///< answer_fault: not of the thread that makes the calls
  std::uint64_t address, stack_pointer;
  std::int32_t array;   ///< of the request's, of the answers that have one
  std::int64_t offset;  ///< of the first changed byte, or touched page, from the array's start
  char opened[opened_bytes];  ///< paths of files opened during a call, each with a zero after it
  std::uint32_t opened_size;
};

/// What the judge reads of host_ending when the library's process has ended, and all that it had
/// started.
struct Ending {
  std::int32_t status;             ///< as wait gives it
  std::int32_t killed_for_memory;  ///< the system killed somebody meanwhile
  std::int64_t kibibytes;          ///< the most memory that it held
};

/// Addresses of a window that shows segments of these sizes.
inline constexpr std::uint64_t window_bytes(std::uint64_t inputs, std::uint64_t outputs) {
  return inputs + outputs + guard_span * (most_arrays + 1);
}
/// Offsets in the guard before all arrays, of what supports() must not read.
enum UnreadableOffset : std::uint64_t {
  unreadable_lengths = 1 << 16,
  unreadable_documents = 2 << 16,
  unreadable_pages = 3 << 16,
  unreadable_mask = 4 << 16,
  unreadable_keep = 5 << 16,
  unreadable_cu_seqlens_q = 6 << 16,
  unreadable_cu_seqlens_k = 7 << 16,
  unreadable_end = 8 << 16
};

}  // namespace plumbline::kernel_process
