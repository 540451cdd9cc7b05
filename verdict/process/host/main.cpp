// SPDX-License-Identifier: Apache-2.0
// plumbline-kernel-host: the process that a kernel library runs in. It loads the library and calls
// its kernels on arrays that the judge lays into shared memory; it knows no expected output.
// Started by the judge (verdict/process/child.cpp), of no use to a person.
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/error.hpp"
#include "verdict/process/host/device_arrays.hpp"
#include "verdict/process/host/device_says.hpp"
#include "verdict/process/host/faults.hpp"
#include "verdict/process/host/opened_files.hpp"
#include "verdict/process/host/other_threads.hpp"
#include "verdict/process/host/rights.hpp"
#include "verdict/process/host/software_arrays.hpp"
#include "verdict/process/host/software_device.hpp"
#include "verdict/process/host/supervisor.hpp"
#include "verdict/process/host/windows.hpp"
#include "verdict/process/load.hpp"
#include "verdict/process/protocol.hpp"

namespace plumbline::kernel_process {
namespace {

// Large, and answered from one thread.
Reply reply;
Request request;

void set_text(char (&into)[text_bytes], const char* text) {
  std::snprintf(into, sizeof into, "%s", text);
}

/// Ends the process when the judge is gone, or out of reach.
void send_reply(std::uint64_t number, Answer answer) {
  reply.number = number;
  reply.answer = answer;
  if (send(host_socket, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply) {
    _exit(status_without_descriptors);
  }
}

/// Runs what may throw, and makes the reply of its status.
template <class Function>
Answer answer_of(const Function& function) {
  reply.text[0] = '\0';
  reply.opened_size = 0;
  Answer kind = answer_status;
  install_fault_handlers(request.number);  // each time: a library may bring handlers of its own
  const pid_t own = getpid();
  try {
    reply.status = function();
  } catch (const std::exception& error) {
    kind = answer_exception;
    set_text(reply.text, error.what());
  } catch (...) {
    kind = answer_exception;
  }
  if (getpid() != own) _exit(0);  // a child that the kernel forked has nothing to answer
  return kind;
}

void answer_supports(const plumbline_kernel& kernel, const Windows& windows) {
  const auto unreadable = [&]<class T>(const T*& pointer, std::uint64_t offset) {
    if (pointer) pointer = reinterpret_cast<const T*>(windows.base() + offset);
  };
  const int count = std::min(request.problem_count, most_problems);
  send_reply(request.number, answer_of([&] {
               for (int n = 0; n < count; ++n) {
                 plumbline_problem& problem = request.problems[n];
                 unreadable(problem.lengths, unreadable_lengths);
                 unreadable(problem.documents, unreadable_documents);
                 unreadable(problem.pages, unreadable_pages);
                 unreadable(problem.mask, unreadable_mask);
                 unreadable(problem.keep, unreadable_keep);
                 unreadable(problem.cu_seqlens_q, unreadable_cu_seqlens_q);
                 unreadable(problem.cu_seqlens_k, unreadable_cu_seqlens_k);
                 reply.supports[n] = kernel.supports(&problem, request.pass);
               }
               return 0;
             }));
}

std::span<const ArrayPlace> arrays_asked_for() {
  return {request.arrays, static_cast<std::size_t>(std::min(request.array_count, most_arrays))};
}

/// Runs the pass.
Answer answer_of_pass(const plumbline_kernel& kernel, const Arguments& arguments) {
  return answer_of([&] {
    note_opened_files(reply.opened, sizeof reply.opened, &reply.opened_size);
    char message[message_bytes] = "";
    int status = 0;
    try {
      status = perform(kernel, request.pass, arguments, message, sizeof message);
    } catch (...) {
      note_opened_files(nullptr, 0, nullptr);
      throw;
    }
    note_opened_files(nullptr, 0, nullptr);
    message[sizeof message - 1] = '\0';
    set_text(reply.text, message);
    return status;
  });
}

/// What a device in software has noticed during a call decides how the call ended.
std::optional<Answer> answer_to(const DeviceArrays::Trouble& trouble, Answer kind) {
  const bool failed = kind != answer_status || reply.status != 0;
  switch (trouble.kind) {
    case DeviceTrouble::fault:
    case DeviceTrouble::timeout:
      reply.status = static_cast<std::int32_t>(trouble.kind);
      set_text(reply.text, trouble.text.c_str());
      reply.array = trouble.array ? static_cast<std::int32_t>(*trouble.array) : -1;
      reply.offset = trouble.offset;
      return answer_device_check;
    case DeviceTrouble::device_lacks:
      set_text(reply.text, ("the software device: " + trouble.text).c_str());
      return answer_machine_lacks;
    case DeviceTrouble::refused:
      // The kernel may have found another way.
      if (!failed) return std::nullopt;
      set_text(reply.text,
               (std::string(reply.text) + "; the device says: " + trouble.text).c_str());
      return kind;
    case DeviceTrouble::none:
      break;
  }
  return std::nullopt;
}

/// @param software where the kernel, which takes host memory, may run its own on it
void answer_call(const plumbline_kernel& kernel, const Windows& windows,
                 const std::optional<SoftwareDevice>& software) {
  Arguments arguments = arguments_of(request.problems[0]);
  for (const ArrayPlace& place : arrays_asked_for()) {
    bind(arguments, place.slot, windows.show(request.window, place));
  }
  Answer kind = answer_of_pass(kernel, arguments);
  const bool returned = kind == answer_status && reply.status == 0;
  const auto opened =
      returned ? windows.opened_guard(request.window, arrays_asked_for()) : std::nullopt;
  if (opened) {
    kind = answer_opened_guard;
    reply.array = static_cast<std::int32_t>(opened->array);
    reply.offset = opened->offset;
    reply.access = opened->written ? access_write : access_read;
  }
  if (software) kind = answer_to(software->trouble(), kind).value_or(kind);
  // Whoever still writes is found before the judge reads: the outputs are what was there at the
  // return.
  note_return();
  windows.hide(request.window);
  await_other_threads();
  send_reply(request.number, kind);
}

/// Of a call that has returned: whether the device still works, what was written there outside of
/// the outputs, and the outputs.
Answer answer_from_device(DeviceArrays& device, std::span<const HostArray> arrays, Answer kind) {
  if (const auto answer = answer_to(device.trouble(), kind)) return *answer;
  const bool returned = kind == answer_status;
  try {
    const auto damage = device.download();
    if (!returned || reply.status != 0) return kind;
    device.copy_outputs(arrays);
    if (!damage) return kind;
    reply.array = static_cast<std::int32_t>(damage->array);
    reply.offset = damage->offset;
    return damage->of_input ? answer_changed_input : answer_wrote_outside;
  } catch (const CudaError& error) {
    if (returned && reply.status == PLUMBLINE_DEVICE_LOST) return kind;
    std::string text = error.what();
    if (!returned || reply.status != 0) text += std::string("; its own words: ") + reply.text;
    set_text(reply.text, text.c_str());
    return answer_device_error;
  }
}

/// answer_call of a kernel that takes pointers to device memory.
void answer_device_call(const plumbline_kernel& kernel, const Windows& windows,
                        DeviceArrays& device) {
  const auto places = arrays_asked_for();
  std::vector<HostArray> arrays;
  for (const ArrayPlace& place : places) {
    auto* bytes = static_cast<std::byte*>(windows.show(request.window, place));
    arrays.push_back({{bytes, place.bytes}, place.is_output != 0});
  }
  Arguments arguments = arguments_of(request.problems[0]);
  try {
    const auto addresses = device.upload(arrays);
    for (std::size_t n = 0; n < places.size(); ++n) bind(arguments, places[n].slot, addresses[n]);
  } catch (const std::exception& error) {
    windows.hide(request.window);
    reply.opened_size = 0;
    const auto text = std::string("device memory for the arrays of a call: ") + error.what();
    set_text(reply.text, text.c_str());
    return send_reply(request.number, answer_machine_lacks);
  }
  Answer kind = answer_of_pass(kernel, arguments);
  note_return();
  await_other_threads();
  kind = answer_from_device(device, arrays, kind);
  windows.hide(request.window);
  send_reply(request.number, kind);
}

/// The arrays of those kernels that take device memory, if any does.
/// @throws MachineLacks
std::unique_ptr<DeviceArrays> device_arrays_for(const plumbline_library& library,
                                                const std::optional<SoftwareDevice>& software) {
  for (int n = 0; n < library.kernel_count; ++n) {
    if (library.kernels[n].memory != PLUMBLINE_CUDA_MEMORY) continue;
    try {
      if (software) return std::make_unique<SoftwareArrays>(*software);
      return std::make_unique<GpuArrays>();
    } catch (const CudaError& error) {
      throw MachineLacks(std::string(library.kernels[n].name) +
                         " takes device memory: " + error.what());
    }
  }
  return nullptr;
}

/// What a library is loaded for.
struct Devices {
  std::optional<SoftwareDevice> software;
  std::unique_ptr<DeviceArrays> arrays;  ///< where a kernel takes device memory
};

/// Tells of the library, or why there is none, and ends then.
/// @param software the folder of the software device, or null for a GPU.
LoadedLibrary introduce(const char* path, const char* software, const Windows& windows,
                        bool namespaces, Devices& devices) {
  install_fault_handlers(0);
  hold_fault_handlers();
  try {
    if (software) devices.software.emplace(software);
    const LoadedLibrary loaded = load_library(path);
    const plumbline_library& library = *loaded.library;
    if (devices.software) devices.software->expect_used_by(library, path);
    devices.arrays = device_arrays_for(library, devices.software);
    if (devices.software) pass_on_what_it_says(*devices.software, devices.arrays.get());
    reply.status = library.kernel_count;
    reply.base = reinterpret_cast<std::uint64_t>(windows.base());
    reply.namespaces = namespaces;
    set_text(reply.text, library.name);
    std::string variations;
    if (devices.software) {
      for (const auto& variation : devices.software->variations()) variations += variation + "\n";
    }
    set_text(reply.variations, variations.c_str());
    set_text(reply.device, devices.software ? devices.software->name().c_str() : library.device);
    send_reply(0, answer_library);
    for (int n = 0; n < library.kernel_count; ++n) {
      const plumbline_kernel& kernel = library.kernels[n];
      set_text(reply.text, kernel.name);
      std::copy_n(kernel.contracts, PLUMBLINE_FORMAT_COUNT, reply.contracts);
      reply.has_pass[PLUMBLINE_FORWARD] = kernel.forward != nullptr;
      reply.has_pass[PLUMBLINE_BACKWARD] = kernel.backward != nullptr;
      reply.has_pass[PLUMBLINE_DECODE] = kernel.decode != nullptr;
      reply.deterministic = kernel.deterministic;
      reply.ignores_hidden_keys = kernel.ignores_hidden_keys;
      reply.memory = kernel.memory;
      send_reply(0, answer_kernel);
    }
    return loaded;
  } catch (const BadInput& error) {
    set_text(reply.text, error.what());
    send_reply(0, answer_bad_input);
  } catch (const MachineLacks& error) {
    set_text(reply.text, error.what());
    send_reply(0, answer_machine_lacks);
  } catch (const std::exception& error) {
    set_text(reply.text, error.what());
    send_reply(0, answer_exception);
  }
  _exit(0);
}

int serve(const char* path, const char* software) {
  const bool namespaces = become_the_worker();
  const rlimit no_core{0, 0};  // crashes are reported, not dumped
  setrlimit(RLIMIT_CORE, &no_core);
  give_up_rights();
  const Windows windows;
  Devices devices;
  const LoadedLibrary loaded = introduce(path, software, windows, namespaces, devices);
  ssize_t received = 0;
  while (true) {
    received = recv(host_socket, &request, sizeof request, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received != sizeof request) break;
    const plumbline_kernel& kernel = loaded.library->kernels[request.kernel];
    note_request(request.number);
    if (request.question == ask_supports) {
      answer_supports(kernel, windows);
      continue;
    }
    if (devices.software) {
      devices.software->vary(request.variation);
      devices.software->limit_time(request.seconds);
    }
    if (kernel.memory == PLUMBLINE_CUDA_MEMORY) {
      answer_device_call(kernel, windows, *devices.arrays);
    } else {
      answer_call(kernel, windows, devices.software);
    }
  }
  // The judge is gone, or out of reach; the library's destructors have nothing to add.
  _exit(received < 0 ? status_without_descriptors : 0);
}

}  // namespace
}  // namespace plumbline::kernel_process

int main(int argc, char** argv) {
  struct stat socket {};
  if (argc < 2 || argc > 3 || fstat(plumbline::kernel_process::host_socket, &socket) != 0 ||
      !S_ISSOCK(socket.st_mode)) {
    std::fputs("plumbline-kernel-host is started by plumbline verify --kernel\n", stderr);
    return 2;
  }
  return plumbline::kernel_process::serve(argv[1], argv[2]);
}
