// SPDX-License-Identifier: Apache-2.0
#include "ptx/cuda/process.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "ptx/cuda/fat_binary.hpp"
#include "ptx/cuda/sanitize.hpp"

namespace plumbline::ptx::cuda {

Process& Process::get() {
  static Process& process = *new Process;
  return process;
}

Device& Process::device() {
  if (!device_) {
    try {
      device_ =
          std::make_unique<Device>(options_from([](const char* name) { return getenv(name); }));
    } catch (const Refused& refused) {
      note({Trouble::refused, refused.what()});
      throw Failure{Error::initialization_error};
    }
  }
  return *device_;
}

std::vector<Context*>& Process::stack() {
  // Never destroyed: static objects of the program call CUDA when those of the thread have gone.
  static thread_local auto* contexts = new std::vector<Context*>;
  return *contexts;
}

Context& Process::current() {
  const bool has = !stack().empty() && is_context(stack().back());
  expect(has, Error::invalid_context);
  return *stack().back();
}

void Process::clear(const Context& context) {
  streams.clear(context);
  modules.clear(context, &context == &primary_);
  std::erase_if(allocations_, [&](const auto& entry) {
    if (entry.second.context != &context) return false;
    free(entry.first, entry.second);
    return true;
  });
}

void Process::note(Trouble trouble) {
  words() = trouble.text;
  const bool tells = !trouble.is_fault() || tells_faults_;
  if (tells && trouble.text != printed_) {
    std::fprintf(stderr, "plumbline: software device: %s\n", trouble.text.c_str());
    printed_ = trouble.text;
  }
  if (listener_) listener_(trouble.kind, trouble.text.c_str(), trouble.address.value_or(0));
  if (!trouble_.is_fault()) trouble_ = std::move(trouble);
}

Trouble Process::take_trouble() {
  if (trouble_.is_fault()) return trouble_;
  return std::exchange(trouble_, {});
}

std::string& Process::words() {
  static thread_local auto* words = new std::string;  // never destroyed, as above
  return *words;
}

Error lacks(const char* function) {
  return attempted([&](Process&) {
    throw Refused(Refused::Reason::not_supported,
                  std::string(function) + ": a function that this device lacks");
  });
}

int& Asynchronous::count() {
  static thread_local int count = 0;
  return count;
}

Error caught(Process& process) {
  process.words().clear();
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.error;
  } catch (const Fault& fault) {
    const bool timeout = fault.kind == Fault::Kind::timeout;
    const bool unwritten = fault.kind == Fault::Kind::uninitialised_global ||
                           fault.kind == Fault::Kind::uninitialised_shared;
    process.note(
        {timeout ? Trouble::timeout : Trouble::fault,
         std::string(fault.what()) +
             (unwritten ? "\n  PLUMBLINE_DEVICE_UNINITIALISED=ones lets a kernel read it" : ""),
         fault.where.address});
    tell_fault();
    process.set_sticky(error_of(fault.kind));
    return process.sticky();
  } catch (const Refused& refused) {
    const bool lacks = refused.reason == Refused::Reason::not_supported;
    process.note({lacks ? Trouble::device_lacks : Trouble::refused, refused.what()});
    return error_of(refused.reason);
  } catch (const BadFatBinary& bad) {
    process.note({Trouble::device_lacks, bad.what()});
    return Error::no_kernel_image_for_device;
  } catch (const BadPtx& bad) {
    process.note({Trouble::device_lacks, bad.what()});
    return Error::invalid_ptx;
  } catch (const std::bad_alloc&) {
    return Error::memory_allocation;
  } catch (const std::exception& error) {
    process.note({Trouble::device_lacks, std::string("an error of its own: ") + error.what()});
    return Error::unknown;
  }
}

}  // namespace plumbline::ptx::cuda
