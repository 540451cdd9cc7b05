// SPDX-License-Identifier: Apache-2.0
// A function of Python's as a kernel of kernel_abi/plumbline_kernel.h, in the caller's process.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel_abi/plumbline_kernel.h"
#include "python/native/native.hpp"
#include "verdict/cases/spec.hpp"
#include "verdict/process/in_process.hpp"

namespace plumbline::python {

/// What a function takes: everything else is not drawn.
struct Takes {
  std::optional<bool> causal;  ///< nothing: both
  bool window = false, lengths = false, documents = false, mask = false, ssmax = false;
  bool sinks = false;
  bool grouped_heads = false;     ///< fewer key heads than query heads
  bool window_sides = false;      ///< a window as (left, right)
  bool query_offset = false;      ///< fewer queries than keys
  bool more_queries = false;      ///< and more
  bool queries_at_end = false;    ///< at each sequence's own end
  std::string alignment;          ///< top_left, bottom_right or, as query_offset says, empty
  bool strides = false;           ///< rows that do not lie one after the other
  bool packed = false;            ///< packed sequences, always
  bool value_dim = false;         ///< values of another width than keys
  bool values_in_keys = false;    ///< v is a part of k, always
  bool lse_gradient = false;      ///< a gradient through lse
  bool dropout = false;           ///< dropout of P
  bool makes_keep = false;        ///< dropout alone whose keep the generator gives
  bool rotary_dim = false;        ///< RoPE of a part of head_dim
  std::vector<int> rotary_dims;   ///< of these widths alone; empty: of any
  bool paged = false;             ///< decoding from pages, always
  std::vector<int> page_sizes;    ///< of these sizes alone; empty: of any
  std::vector<int> caches;        ///< plumbline_cache_format, one of them always; empty: none
  bool scale_per_key = false;     ///< of such a cache, always
  bool ignores_hidden = false;    ///< keys that no query sees, where k and v are then NaN
  bool scale = false;             ///< other scales than 1/sqrt(head_dim)
  bool softcap = false;           ///< softcaps
  double own_softcap = 0;         ///< the softcap of all cases, which the function has built in
  std::map<int, double> options;  ///< by plumbline_option: only this value

  /// @param width of the rotated part; 0 without RoPE
  bool rotates(int width, int head_dim) const {
    if (width == 0) return true;
    if (!rotary_dim) return width == head_dim;
    return rotary_dims.empty() || std::ranges::count(rotary_dims, width) > 0;
  }
  bool reads_cache(int page_size, int format, bool of_each_key) const {
    return paged == (page_size > 0) &&
           (page_sizes.empty() || std::ranges::count(page_sizes, page_size) > 0) &&
           (caches.empty() ? format == 0 : std::ranges::count(caches, format) > 0) &&
           scale_per_key == of_each_key;
  }
  /// Whether the queries stand where the function expects them.
  bool has_queries_of(const plumbline_problem& p, int32_t pass) const {
    if (pass == PLUMBLINE_DECODE && !query_offset) {  // at the last key of each sequence
      return p.query_offset == p.keys - p.queries &&
             (p.lengths == nullptr || p.queries_at_end != 0);
    }
    if (packed) return true;  // each sequence's last query is at its last key
    return aligns(p.query_offset, p.queries, p.keys) && (queries_at_end || p.queries_at_end == 0);
  }
  bool aligns(int offset, int queries, int keys) const {
    if (alignment == "top_left") return offset == 0;
    if (alignment == "bottom_right") return offset == keys - queries;
    return query_offset || queries == keys;
  }
};

/// For its lifetime, in its thread, `kernel()` calls the function.
class CallableKernel {
 public:
  /// @param ask is asked {"problem", "inputs", "outputs"}: the pass, the variation of the software
  /// device and settings; of every array by its name the memory, the shape and, where its rows do
  /// not lie one after the other, the strides, in numbers. It calls the function, leaves in the
  /// memory of inputs and outputs what that left in them, and answers {} or
  /// {"refused": words} or {"raised": words}; always with "on_software_device": whether the
  /// function has launched kernels there.
  /// @param bias of all problems, as pass.
  CallableKernel(plumbline_native_ask ask, std::string name, cases::Bias bias, Takes takes,
                 const plumbline_contract& contract, cases::Pass pass, bool deterministic);
  ~CallableKernel();
  CallableKernel(const CallableKernel&) = delete;
  CallableKernel& operator=(const CallableKernel&) = delete;

  const plumbline_kernel& kernel() const { return kernel_; }

  /// The function is called on this variation of the software device from now on.
  void vary(int variation) { variation_ = variation; }
  bool on_software_device() const { return on_software_device_; }

  /// null where the caller ends the check: a KeyboardInterrupt, for example. Then it is
  /// interrupted.
  Json answer_to(const Json& question);
  bool interrupted() const { return interrupted_; }

 private:
  /// Of the innermost check's function.
  static cases::Spec spec_of(const plumbline_problem& problem);
  static int supports(const plumbline_problem* problem, int32_t pass);
  static int forward(const plumbline_problem*, const plumbline_outputs*, char*, size_t);
  static int backward(const plumbline_problem*, const plumbline_gradients*, char*, size_t);
  static int decode(const plumbline_problem*, const plumbline_outputs*, char*, size_t);
  static int attend(const char* pass, const plumbline_problem&, const plumbline_outputs&,
                    char* message, std::size_t message_size);
  int call(const Json& problem, const Json& inputs, const Json& outputs, char* message,
           std::size_t message_size);

  plumbline_native_ask ask_;
  bool on_software_device_ = false, interrupted_ = false;
  std::string name_;
  cases::Bias bias_;
  Takes takes_;
  plumbline_kernel kernel_{};
  int variation_ = 0;
  CallableKernel* before_;
};

/// Calls the function on the software device's variations, in case it runs kernels there.
class OnVariations : public kernel_process::InProcessCaller {
 public:
  /// The callable must outlive it.
  explicit OnVariations(CallableKernel& callable);

  std::span<const std::string> variations() const override { return names_; }
  bool on_software_device() const override { return callable_.on_software_device(); }
  kernel_process::CallEnd call(const kernel_process::KernelCall& call) const override;

 private:
  CallableKernel& callable_;
  std::vector<std::string> names_;
};

}  // namespace plumbline::python
