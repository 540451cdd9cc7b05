// SPDX-License-Identifier: Apache-2.0
#include "verdict/process/end_words.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <optional>

namespace plumbline::kernel_process {
namespace {

std::string signal_name(int number) {
  const char* name = sigabbrev_np(number);
  return name ? std::string("SIG") + name : fmt::format("signal {}", number);
}

const char* verb(std::int32_t access) {
  return access == access_write  ? "wrote"
         : access == access_read ? "read"
         : access == access_run  ? "ran what is"
                                 : "touched";
}

/// What a fault at an address means; kind and a clause.
struct Meaning {
  const char* kind;
  std::string clause;
};

Meaning outside_of(const ArrayPlace& place, const std::string& name, std::uint64_t array,
                   const Reply& fault) {
  const char* kind =
      fault.access == access_read ? failure_kind::read_outside : failure_kind::wrote_outside;
  if (fault.address < array) {
    return {kind, fmt::format("it {} {} bytes before the start of {}", verb(fault.access),
                              array - fault.address, name)};
  }
  return {kind, fmt::format("it {} at byte {} of {}, which has {} bytes", verb(fault.access),
                            fault.address - array, name, place.bytes)};
}

/// The array that the address lies in or nearest to, where it lies among them.
std::optional<Meaning> among_arrays(const Reply& fault, const Occupation& at) {
  std::optional<Meaning> nearest;
  std::uint64_t least = guard_span;
  for (std::size_t n = 0; at.layout && n < at.layout->places.size(); ++n) {
    const ArrayPlace& place = at.layout->places[n];
    const std::string& name = at.layout->names[n];
    const std::uint64_t window = at.base + static_cast<std::uint64_t>(at.window) * at.window_bytes,
                        array = window + place.page_offset + place.begin, end = array + place.bytes;
    if (fault.address >= array && fault.address < end) {
      if (place.is_output || fault.access == access_read) return std::nullopt;
      return Meaning{
          failure_kind::changed_input,
          fmt::format("it wrote to its input {}, at byte {}", name, fault.address - array)};
    }
    const std::uint64_t distance =
        fault.address < array ? array - fault.address : fault.address - end;
    if (distance >= least) continue;
    least = distance;
    nearest = outside_of(place, name, array, fault);
  }
  return nearest;
}

std::optional<Meaning> in_supports(const Reply& fault, const Occupation& at) {
  if (at.what != Occupation::What::supports || fault.address < at.base) return std::nullopt;
  const std::uint64_t offset = fault.address - at.base;
  if (offset < unreadable_lengths || offset >= unreadable_end) return std::nullopt;
  const char* name = offset < unreadable_documents      ? "lengths"
                     : offset < unreadable_pages        ? "documents"
                     : offset < unreadable_mask         ? "pages"
                     : offset < unreadable_keep         ? "mask"
                     : offset < unreadable_cu_seqlens_q ? "keep"
                     : offset < unreadable_cu_seqlens_k ? "cu_seqlens_q"
                                                        : "cu_seqlens_k";
  return Meaning{failure_kind::read_outside,
                 fmt::format("it {} {}, which supports() must not", verb(fault.access), name)};
}

/// A thread at the arrays of a call that has returned: hidden then, and later calls have others.
std::optional<Meaning> after_return(const Reply& fault, const Occupation& at) {
  if (!fault.other_thread || fault.address < at.base || at.window_bytes == 0) return std::nullopt;
  const std::uint64_t window = (fault.address - at.base) / at.window_bytes;
  if (window >= window_count) return std::nullopt;
  const bool of_this_call =
      at.what == Occupation::What::pass && window == static_cast<std::uint64_t>(at.window);
  // Before the first array of the first window lies what supports() must not read.
  const bool of_supports =
      at.what == Occupation::What::supports && window == 0 && fault.address - at.base < guard_span;
  if (!fault.returned && (of_this_call || of_supports)) return std::nullopt;
  const char* what = fault.access == access_write  ? "wrote to"
                     : fault.access == access_read ? "read from"
                                                   : "touched";
  return Meaning{failure_kind::returned_early,
                 fmt::format("a thread that it left running {} the arrays of a call that had "
                             "returned",
                             what)};
}

Meaning meaning_of(const Reply& fault, const Occupation& at) {
  if (fault.signal != SIGSEGV && fault.signal != SIGBUS) {
    const std::string text = fault.signal == SIGABRT  ? "it called abort(), or what it threw was "
                                                        "caught nowhere"
                             : fault.signal == SIGFPE ? "an integer division by zero, as a rule"
                                                      : "an instruction that is not there";
    return {failure_kind::crash, text};
  }
  // x86 tells no address of what is no page fault.
  if (fault.code == SI_KERNEL && fault.address == 0) {
    return {failure_kind::crash,
            "it used an address that is not known: one that no memory can have (non-canonical), or "
            "one that is not aligned as its instruction needs"};
  }
  if (const auto meaning = after_return(fault, at)) return *meaning;
  if (const auto meaning = in_supports(fault, at)) return *meaning;
  if (const auto meaning = among_arrays(fault, at)) return *meaning;
  constexpr std::uint64_t near = 1 << 20;
  if (fault.code <= 0) return {failure_kind::crash, "the signal was sent, not caused"};
  if (fault.access == access_run) {
    return {
        failure_kind::crash,
        fault.address < 4096
            ? "it called a function through a null pointer"
            : fmt::format("it went on at address {:#x}, where there is no code", fault.address)};
  }
  if (fault.address < 4096) {
    return {failure_kind::crash, fmt::format("it {} through a null pointer (address {:#x})",
                                             verb(fault.access), fault.address)};
  }
  if (fault.stack_pointer != 0 && fault.address < fault.stack_pointer + near &&
      fault.address + near > fault.stack_pointer) {
    return {failure_kind::crash, "its stack is used up"};
  }
  return {failure_kind::crash, fmt::format("it {} address {:#x}, where it has nothing",
                                           verb(fault.access), fault.address)};
}

/// Who was killed by another process, itself or the system.
CallEnd killed(const ProcessEnd& process_end, const std::string& who) {
  CallEnd end;
  const double gib = static_cast<double>(process_end.kibibytes) / (1 << 20);
  const std::string held =
      process_end.kibibytes > 0 ? fmt::format("; it had held up to {:.3g} GiB", gib) : "";
  if (process_end.killed_for_memory) {
    end.kind = failure_kind::out_of_memory;
    end.failure = fmt::format("{} was killed by the system for want of memory{}", who, held);
  } else {
    end.kind = failure_kind::crash;
    end.failure = fmt::format("{} was killed (SIGKILL), by itself or from outside{}", who, held);
  }
  return end;
}

/// Who did it, and when.
std::string subject(const Occupation& at) {
  switch (at.what) {
    case Occupation::What::loading:
      return "the library, while it was loaded,";
    case Occupation::What::supports:
      return "the kernel's supports()";
    case Occupation::What::pass:
      break;
  }
  return "the kernel";
}

}  // namespace

CallEnd words_of(const ProcessEnd& process_end, const Occupation& at) {
  CallEnd end;
  const std::string who = subject(at);
  const int status = process_end.wait_status;
  if (process_end.hung) {
    end.kind = failure_kind::hang;
    const bool loading = at.what == Occupation::What::loading;
    end.failure = fmt::format("{} did not return within {:g} s (--time-limit{})", who, at.seconds,
                              loading ? ", for loading a minute at least" : "");
  } else if (process_end.fault) {
    const Reply& fault = *process_end.fault;
    const Meaning meaning = meaning_of(fault, at);
    end.kind = meaning.kind;
    end.failure =
        fmt::format("{} crashed ({}): {}", who, signal_name(fault.signal), meaning.clause);
  } else if (process_end.nonsense ||
             (WIFEXITED(status) && WEXITSTATUS(status) == status_without_descriptors)) {
    end.kind = failure_kind::protocol;
    end.failure = who +
                  " sent the judge what is no answer: something wrote to a descriptor that it had "
                  "not opened, or closed it, or wrote over memory that is not the kernel's";
  } else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    end = killed(process_end, who);
  } else if (WIFSIGNALED(status)) {
    end.kind = failure_kind::crash;
    end.failure = fmt::format("{} crashed ({})", who, signal_name(WTERMSIG(status)));
  } else {
    end.kind = failure_kind::ended_process;
    end.failure = fmt::format("{} ended its process, with exit status {}", who,
                              WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  return end;
}

}  // namespace plumbline::kernel_process
