// SPDX-License-Identifier: Apache-2.0
// Calls of functions, and the functions that the device itself has.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "ptx/execute/cluster.hpp"
#include "ptx/execute/faults.hpp"
#include "ptx/execute/state.hpp"

namespace plumbline::ptx {
namespace {

constexpr std::uint32_t most_local = 512u << 10;  ///< bytes of a thread
constexpr std::size_t most_frames = 512;
constexpr std::size_t most_text = 64 << 10;
constexpr std::int32_t most_width = 4096;  ///< of what printf writes for one argument

std::byte* local(WarpState& warp, std::uint32_t lane, std::uint32_t offset) {
  return warp.local + std::size_t{lane} * warp.local_stride + offset;
}

/// Room for `bytes` of local memory of each thread. What is there stays.
void grow(WarpState& warp, const Operation& o, std::uint32_t bytes) {
  if (bytes <= warp.local_stride) return;
  if (bytes > most_local)
    fault(warp, o, static_cast<std::uint32_t>(__builtin_ctz(warp.mask)), Fault::Kind::out_of_bounds,
          "the calls need more than " + std::to_string(most_local) + " bytes of local memory");
  const std::uint32_t stride = std::min(std::max(bytes, 2 * warp.local_stride), most_local);
  warp.block->cluster->take(32 * std::size_t{stride - warp.local_stride});
  Bytes wider;
  wider.resize(32 * std::size_t{stride});
  for (std::uint32_t i = 0; i < 32; ++i)
    std::memcpy(wider.data() + std::size_t{i} * stride, local(warp, i, 0), warp.local_stride);
  warp.local_bytes = std::move(wider);
  warp.local = warp.local_bytes.data();
  warp.local_stride = stride;
}

/// Bytes at a generic address, of one thread.
const std::byte* bytes_at(WarpState& warp, const Operation& o, std::uint32_t lane, Address at,
                          std::uint32_t count) {
  if (at - local_window < window_bytes) {
    const std::uint64_t offset = at - local_window;
    if (offset + count > warp.local_stride)
      fault_window(warp, o, lane, "local", offset, count, warp.local_stride);
    return local(warp, lane, static_cast<std::uint32_t>(offset));
  }
  if (at - shared_window < window_bytes) {
    const std::uint64_t offset = at - shared_window;
    const SharedMemory& s = warp.block->shared;
    if (offset < shared_begin || offset + count > shared_begin + std::uint64_t{s.size})
      fault_window(warp, o, lane, "shared", offset, count, s.size);
    return s.bytes + (offset - shared_begin);
  }
  const Allocation* a = warp.block->memory->find(at);
  if (!a || a->end - at < count) fault_global(warp, o, lane, at, count, false);
  return reinterpret_cast<const std::byte*>(at);
}

std::string text_at(WarpState& warp, const Operation& o, std::uint32_t lane, Address at) {
  std::string text;
  for (; text.size() < most_text; ++at) {
    const char c = static_cast<char>(*bytes_at(warp, o, lane, at, 1));
    if (c == '\0') break;
    text += c;
  }
  return text;
}

/// printf: every specification with its argument, as C's.
std::string formatted(WarpState& warp, const Operation& o, std::uint32_t lane,
                      const std::string& format, Address arguments, int& count) {
  std::string all;
  const auto next = [&](std::uint32_t bytes) {
    arguments = (arguments + bytes - 1) / bytes * bytes;
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes_at(warp, o, lane, arguments, bytes), bytes);
    arguments += bytes;
    ++count;
    return bits;
  };
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      all += format[i];
      continue;
    }
    std::string spec = "%";
    bool wide = false;
    std::size_t k = i + 1;
    for (; k < format.size() && std::strchr("-+ #0123456789.*lhzjt", format[k]); ++k) {
      if (format[k] == '*') {
        const auto width = static_cast<std::int32_t>(next(4));
        spec += std::to_string(std::clamp(width, -most_width, most_width));
      } else if (format[k] >= '1' && format[k] <= '9') {
        std::int32_t width = most_width;  // where it is beyond all numbers
        const char* end = format.data() + format.size();
        const auto [rest, error] = std::from_chars(format.data() + k, end, width);
        spec += std::to_string(std::min(width, most_width));
        k = static_cast<std::size_t>(rest - format.data()) - 1;
      } else if (std::strchr("lzjt", format[k])) {
        wide = true;
      } else if (format[k] != 'h') {
        spec += format[k];
      }
    }
    if (k >= format.size() || spec.size() > 40) break;
    const char kind = format[k];
    i = k;
    char text[8192];
    text[0] = '\0';
    if (kind == '%') {
      all += '%';
    } else if (std::strchr("di", kind)) {
      const std::uint64_t bits = next(wide ? 8 : 4);
      const long long value = wide ? static_cast<long long>(bits) : static_cast<std::int32_t>(bits);
      std::snprintf(text, sizeof text, (spec + "lld").c_str(), value);
    } else if (std::strchr("uxXo", kind)) {
      std::snprintf(text, sizeof text, (spec + "ll" + kind).c_str(),
                    static_cast<unsigned long long>(next(wide ? 8 : 4)));
    } else if (kind == 'c') {
      std::snprintf(text, sizeof text, (spec + "c").c_str(), static_cast<int>(next(4)));
    } else if (std::strchr("fFeEgGaA", kind)) {
      const std::uint64_t bits = next(8);
      double value = 0;
      std::memcpy(&value, &bits, 8);
      std::snprintf(text, sizeof text, (spec + kind).c_str(), value);
    } else if (kind == 's') {
      std::snprintf(text, sizeof text, (spec + "s").c_str(),
                    text_at(warp, o, lane, next(8)).c_str());
    } else if (kind == 'p') {
      std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(next(8)));
    } else {
      all += spec + kind;
    }
    all += text;
  }
  return all;
}

}  // namespace

void Runner::builtin(WarpState& warp, const Operation& o, const Program::Call& call,
                     std::uint32_t mask) {
  const auto argument = [&](std::size_t k, std::uint32_t lane) {
    std::uint64_t bits = 0;
    const auto& place = call.arguments[k];
    const std::byte* from = place.in_list ? warp.registers + warp.lists[o.list + place.list] +
                                                lane * std::max(4u, place.bytes)
                                          : local(warp, lane, warp.local_frame + place.local);
    std::memcpy(&bits, from, std::min<std::size_t>(place.bytes, 8));
    return bits;
  };
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    if (call.builtin == "__assertfail" && call.arguments.size() >= 4) {
      fault(warp, o, lane, Fault::Kind::assertion,
            text_at(warp, o, lane, argument(1, lane)) + ":" +
                std::to_string(static_cast<std::uint32_t>(argument(2, lane))) + ": " +
                text_at(warp, o, lane, argument(3, lane)) + ": the assertion " +
                text_at(warp, o, lane, argument(0, lane)) + " failed");
    }
    if (call.arguments.size() != 2)
      fault(warp, o, lane, Fault::Kind::bad_instruction, "a call with other arguments");
    int count = 0;
    const std::string text = formatted(warp, o, lane, text_at(warp, o, lane, argument(0, lane)),
                                       argument(1, lane), count);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (!call.results.empty() && !call.results[0].in_list && call.results[0].bytes >= 4)
      std::memcpy(local(warp, lane, warp.local_frame + call.results[0].local), &count, 4);
  }
}

namespace {

/// Of an indirect call: its prototype may be another than the function's own.
bool fits(const std::vector<Program::Call::Place>& given, const std::vector<Variable>& wanted) {
  return std::ranges::equal(given, wanted, [](const auto& place, const Variable& variable) {
    return place.bytes == variable.bytes &&
           (variable.type != Type::pred || (!place.in_list && !variable.is_register));
  });
}

}  // namespace

/// The fragment at the front of the frame stands after the call.
void Runner::call(WarpState& warp, const Operation& o, std::uint32_t mask, std::uint32_t next) {
  const auto& call = *static_cast<const Program::Call*>(o.extra);
  if (!call.builtin.empty()) {
    builtin(warp, o, call, mask);
    return;
  }
  const Function* function = call.callee;
  const auto first = static_cast<std::uint32_t>(__builtin_ctz(mask));
  if (!function) {
    const auto* targets = reinterpret_cast<const std::uint64_t*>(warp.registers + o.a);
    const auto& functions = warp.program->module->functions;
    const std::uint64_t target = targets[first];
    std::uint32_t same = 0;
    for (std::uint32_t i = 0; i < 32; ++i)
      if (mask >> i & 1 && targets[i] == target) same |= 1u << i;
    if (target == 0 || target > functions.size() || functions[target - 1].entry ||
        !launch.kernel->programs.count(&functions[target - 1]))
      fault(warp, o, first, Fault::Kind::bad_instruction, "a call of what is no function");
    function = &functions[target - 1];
    if (same != mask) {  // the others call when these are back
      auto& fragments = warp.frames.back().fragments;
      fragments[0].mask &= ~(mask & ~same);
      fragments.push_back({next - 1, mask & ~same, Fragment::State::ready, 0, false, warp.live});
      mask = same;
    }
  }
  const Program& callee = *launch.kernel->programs.at(function);
  if (!fits(call.arguments, function->parameters) || !fits(call.results, function->results))
    fault(warp, o, first, Fault::Kind::bad_instruction, "a call with other arguments");
  if (warp.frames.size() >= most_frames)
    fault(warp, o, first, Fault::Kind::out_of_bounds,
          "more than " + std::to_string(most_frames) + " calls in one another");
  const std::uint32_t caller_frame = warp.local_frame;
  const std::uint32_t frame = caller_frame + warp.program->local_bytes;
  grow(warp, o, frame + callee.local_bytes);
  std::byte* const registers = warp.registers;
  const std::uint32_t* const lists = warp.lists;
  enter(warp, callee, mask, frame);
  warp.frames.back().call = &call;
  warp.frames.back().caller = next - 1;
  for (std::size_t k = 0; k < call.arguments.size(); ++k)
    move(warp, call.arguments[k], registers, lists + o.list, caller_frame, function->parameters[k],
         callee.parameter_at[k], warp.frames.back().registers, frame, mask, true);
}

/// Between a place of the caller and a parameter, or a result, of the function.
void Runner::move(WarpState& warp, const Program::Call::Place& place, std::byte* caller,
                  const std::uint32_t* list, std::uint32_t caller_frame, const Variable& formal,
                  std::uint32_t at, std::byte* callee, std::uint32_t callee_frame,
                  std::uint32_t mask, bool there) {
  if (formal.is_register && at == ~0u) return;  // never used
  const auto size = static_cast<std::uint32_t>(formal.bytes), slot = std::max(size, 4u);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (!(mask >> lane & 1)) continue;
    std::byte* outside = place.in_list ? caller + list[place.list] + lane * slot
                                       : local(warp, lane, caller_frame + place.local);
    std::byte* inside =
        formal.is_register ? callee + at + lane * slot : local(warp, lane, callee_frame + at);
    const std::uint32_t bytes = place.in_list && formal.is_register ? slot : size;
    if (there)
      std::memcpy(inside, outside, bytes);
    else
      std::memcpy(outside, inside, bytes);
  }
}

void Runner::leave(WarpState& warp) {
  const Frame frame = std::move(warp.frames.back());
  warp.frames.pop_back();
  if (warp.frames.empty()) return;
  Frame& caller = warp.frames.back();
  const Operation& o = caller.program->operations[frame.caller];
  for (std::size_t k = 0; k < frame.call->results.size(); ++k)
    move(warp, frame.call->results[k], caller.registers, caller.program->lists.data() + o.list,
         caller.local_frame, frame.program->function->results[k], frame.program->result_at[k],
         frame.registers, frame.local_frame, frame.mask & warp.live, false);
  auto& fragments = caller.fragments;
  fragments.erase(std::remove_if(fragments.begin(), fragments.end(),
                                 [](const Fragment& one) { return one.mask == 0; }),
                  fragments.end());
}

}  // namespace plumbline::ptx
