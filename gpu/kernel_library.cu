// SPDX-License-Identifier: Apache-2.0
// The kernels of this repository as the judge loads them.
#include <cstdio>
#include <exception>
#include <iterator>

#include "attention/backward.cuh"
#include "attention/check_problem.cuh"
#include "attention/decode.cuh"
#include "attention/forward.cuh"
#include "attention/fp8_inputs.cuh"
#include "attention/score_methods.cuh"
#include "attention/variants.cuh"
#include "plumbline_kernel.h"

namespace plumbline::gpu {

namespace {

/// fp32 throughout, whatever the format of q, k, v and o, rounding to nearest (a fused multiply-add
/// only errs less; tf32's operands are not even rounded); P stays fp32; expf within 2.5 ulp, 2.5 *
/// 2^-23 relative: the 2 ulp of CUDA's table of accuracies are measured from the correctly rounded
/// result, which is itself up to half an ulp off (glibc: below 1 ulp); S in double.
constexpr plumbline_contract scalar() {
  plumbline_contract contract{};
  contract.unit_roundoff = 0x1p-24;
  contract.exp_error = 0x1.4p-22;
  contract.splits = 1;
  return contract;
}
constexpr plumbline_contract kScalar = scalar();

constexpr plumbline_contract skipping(plumbline_contract contract) {
  contract.skipped_mass = 0x1p-14;
  return contract;
}
constexpr plumbline_contract kSkipping = skipping(kScalar);

/// A kernel in which an fp32 number below 2^-126 may become 0.
constexpr plumbline_contract flushing(plumbline_contract contract) {
  contract.flushes_subnormals = 1;
  return contract;
}
/// Atomic additions of floats in global memory flush, on every GPU (core/atomic.cuh).
constexpr plumbline_contract kAtomic = flushing(kScalar);

/// Tensor cores: products exact, sums in fp32, cut; P rounded to the element format before it meets
/// V, but not in the sum. tf32 reads its operands' upper 19 bits. The exponential is 2^x, within
/// the error of expf above, and flushes (core/exp2.cuh). Prefix sums are less that of the first of
/// `tile_keys` keys, and logarithms of their differences by lg2.approx (core/log2.cuh). The rest as
/// kScalar.
constexpr plumbline_contract tensor_core(plumbline_format format, double operand_roundoff,
                                         int tile_keys = 64) {
  plumbline_contract contract = flushing(kScalar);
  contract.unit_roundoff = 0x1p-23;
  contract.operand_roundoff = operand_roundoff;
  contract.probability_format = format;
  contract.prefix_tile = tile_keys;
  contract.log_error = 0x1p-22;
  return contract;
}

/// After a kernel's fault the CUDA context fails every call, of this process, for good.
bool device_lost() {
#if PLUMBLINE_ON_GPU
  return cudaDeviceSynchronize() != cudaSuccess;
#else
  return false;
#endif
}

/// Runs `pass(*problem, *arrays)` and tells what it throws.
template <class Arrays, class Pass>
int run(const plumbline_problem* problem, const Arrays* arrays, char* message, size_t message_size,
        Pass pass) {
  const auto fail = [&](const char* why) {
    if (message && message_size > 0) std::snprintf(message, message_size, "%s", why);
    return device_lost() ? PLUMBLINE_DEVICE_LOST : 1;
  };
  try {
    if (!problem || !arrays) return fail("no problem given");
    pass(*problem, *arrays);
    return 0;
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

/// What a kernel leaves out of that which `unsupported_reason` lets through: why it cannot run the
/// problem, or "".
std::string leaves_out_caches(const plumbline_problem& p) {
  return p.cache_format != PLUMBLINE_CACHE_IN_FORMAT ? "cache_format must be 0 but when decoding"
                                                     : "";
}

std::string leaves_out_layouts(const plumbline_problem& p) {
  if (p.strided != 0) return "strided must be 0 for this kernel";
  return p.cu_seqlens_q ? "cu_seqlens_q must be NULL for this kernel" : "";
}

std::string leaves_out_softcap(const plumbline_problem& p) {
  return p.softcap != 0 ? "softcap must be 0 for this kernel" : leaves_out_caches(p);
}

std::string skipping_leaves_out(const plumbline_problem& p) {
  if (p.dropout != 0) return "dropout must be 0 for this kernel";
  const std::string reason = leaves_out_layouts(p);
  return reason.empty() ? leaves_out_softcap(p) : reason;
}

std::string tensor_cores_leave_out(const plumbline_problem& p) {
  if (p.mask) return "mask must be NULL for this kernel";
  if (p.value_dim != p.head_dim) return "value_dim must be head_dim for this kernel";
  if ((plumbline_features(&p) & PLUMBLINE_HAS_SLOPES_PER_BATCH) != 0)
    return "slopes_per_batch must be 0 for this kernel";
  return skipping_leaves_out(p);
}

template <bool tensor_cores, bool deterministic>
std::string training_leaves_out(const plumbline_problem& p) {
  if (tensor_cores) return tensor_cores_leave_out(p);
  return deterministic ? leaves_out_caches(p) : leaves_out_softcap(p);
}

void refuse(const std::string& reason) {
  if (!reason.empty()) throw InvalidProblem(reason);
}

template <auto variant, auto leaves_out = leaves_out_caches, Widths widths = Widths::compiled,
          bool float_outputs = false, bool rotated_rows = false>
int forward(const plumbline_problem* problem, const plumbline_outputs* outputs, char* message,
            size_t message_size) {
  return run(problem, outputs, message, message_size,
             [](const plumbline_problem& p, const plumbline_outputs& o) {
               refuse(leaves_out(p));
               AttentionKernels kernels{variant, nullptr, nullptr, false, widths, float_outputs};
               kernels.rotated_rows = rotated_rows;
               run_forward(p, o, kernels);
             });
}

/// The same by a kernel on tensor cores.
template <auto variant, auto leaves_out>
constexpr auto forward_on_tensor_cores =
    forward<variant, leaves_out, Widths::compiled, false, true>;

/// The kernels in fp32, or by mma.sync.
AttentionKernels training_kernels(const plumbline_problem& p, bool tensor_cores,
                                  bool deterministic) {
  return tensor_cores ? kernels_by_mma(deterministic)
                      : attention_kernels(static_cast<Format>(p.format), false, deterministic);
}

template <bool tensor_cores, bool deterministic = true, bool float_outputs = false>
int backward(const plumbline_problem* problem, const plumbline_gradients* gradients, char* message,
             size_t message_size) {
  return run(problem, gradients, message, message_size,
             [](const plumbline_problem& p, const plumbline_gradients& g) {
               refuse(training_leaves_out<tensor_cores, deterministic>(p));
               AttentionKernels kernels = training_kernels(p, tensor_cores, deterministic);
               kernels.float_outputs = float_outputs;
               run_backward(p, g, kernels);
             });
}

/// Whether a kernel that holds no matrix of scores can run the problem.
bool is_supported(const plumbline_problem& problem, Widths widths = Widths::compiled) {
  return !needs_scores(problem) && unsupported_reason(problem, widths).empty();
}

template <auto leaves_out = leaves_out_caches, Widths widths = Widths::compiled>
int supports_forward(const plumbline_problem* problem, int32_t pass) {
  return problem && pass == PLUMBLINE_FORWARD && is_supported(*problem, widths) &&
         leaves_out(*problem).empty();
}

bool has_rope(const plumbline_problem& problem) { return problem.rope != PLUMBLINE_NO_ROPE; }

int decode(const plumbline_problem* problem, const plumbline_outputs* outputs, char* message,
           size_t message_size) {
  return run(problem, outputs, message, message_size, run_decode);
}

int supports_decode(const plumbline_problem* problem, int32_t pass) {
  return problem && pass == PLUMBLINE_DECODE && !needs_scores(*problem) &&
         unsupported_decode_reason(*problem).empty();
}

/// CoPE and DAPE, which need the matrix of scores, in every pass.
int supports_unfused(const plumbline_problem* problem, int32_t pass) {
  if (!problem || !needs_scores(*problem)) return 0;
  return (pass == PLUMBLINE_DECODE ? unsupported_decode_reason(*problem)
                                   : unsupported_reason(*problem))
      .empty();
}

/// o and the gradients in float, lse to base 2.
constexpr plumbline_contract with_float_outputs() {
  plumbline_contract contract = kScalar;
  contract.float_o = contract.float_gradients = contract.lse_base_2 = 1;
  return contract;
}
constexpr plumbline_contract kFloatOutputs = with_float_outputs();

/// Scores, P and the sum of o rounded to bf16; without a maximum, and without lse.
constexpr plumbline_contract in_bf16() {
  plumbline_contract contract = kScalar;
  contract.score_format = contract.probability_format = PLUMBLINE_BF16;
  contract.sums_rounded_p = contract.no_lse = 1;
  contract.output_sum_format = PLUMBLINE_BF16;
  contract.sum_block = kNaiveSumBlock;
  contract.empty_rows = PLUMBLINE_EMPTY_ROWS_ARE_NAN;
  contract.largest_score = 64;
  contract.families_left_out = PLUMBLINE_FAMILY_HUGE | PLUMBLINE_FAMILY_SUBNORMAL;
  return contract;
}
constexpr plumbline_contract kInBf16 = in_bf16();

/// Ranges of the keys, merged one by one. A block's range is shared out among its warps; theirs are
/// merged before, which scales a term once more and adds at most three times: with m ranges that
/// have keys at most 2 products and m - 1 sums, no more than m - 1 merges one by one have.
constexpr plumbline_contract split() {
  plumbline_contract contract = kScalar;
  contract.splits = kMostSplits;
  return contract;
}
constexpr plumbline_contract kSplit = split();

template <bool tensor_cores, bool deterministic>
int supports_training(const plumbline_problem* problem, int32_t pass) {
  if (!problem || !is_supported(*problem)) return 0;
  if (pass != PLUMBLINE_FORWARD && pass != PLUMBLINE_BACKWARD) return 0;
  if (!training_leaves_out<tensor_cores, deterministic>(*problem).empty()) return 0;
  return lacks_shared_memory(*problem, training_kernels(*problem, tensor_cores, deterministic),
                             pass == PLUMBLINE_BACKWARD)
      .empty();
}

/// Rotated queries and keys are rounded to the element format again: that is a kernel of its own.
template <bool rope, bool deterministic = true>
int supports_mma(const plumbline_problem* problem, int32_t pass) {
  return problem && problem->format != PLUMBLINE_FP32 && has_rope(*problem) == rope &&
         supports_training<true, deterministic>(problem, pass);
}

/// fp8 by kernels of bf16: q and v times their scales are rounded to bf16, as P is.
int supports_mma_fp8(const plumbline_problem* problem, int32_t pass) {
  if (!problem || !is_fp8(*problem) || pass != PLUMBLINE_FORWARD) return 0;
  const plumbline_problem wide = as_bf16(*problem);
  return supports_mma<false>(&wide, pass);
}

int supports_mma_skipping(const plumbline_problem* problem, int32_t pass) {
  return problem && pass == PLUMBLINE_FORWARD && problem->format != PLUMBLINE_TF32 &&
         supports_mma<false>(problem, pass);
}

int forward_fp8_by_mma(const plumbline_problem* problem, const plumbline_outputs* outputs,
                       char* message, size_t message_size) {
  return run(problem, outputs, message, message_size,
             [](const plumbline_problem& p, const plumbline_outputs& o) {
               refuse(tensor_cores_leave_out(p));
               run_fp8_forward(p, o, kernels_by_mma(true));
             });
}

#if PLUMBLINE_ON_GPU
std::string wgmma_leaves_out(const plumbline_problem& p) {
  if (!device_has_wgmma()) return "this kernel needs a device of compute capability 9.0";
  if (p.format != PLUMBLINE_BF16 && p.format != PLUMBLINE_FP16)
    return "format must be bf16 or fp16 for this kernel";
  if (p.head_dim % 64 != 0) return "head_dim must be 64 or 128 for this kernel";
  return tensor_cores_leave_out(p);
}

template <bool rope>
int supports_wgmma(const plumbline_problem* problem, int32_t pass) {
  return supports_mma<rope>(problem, pass) && wgmma_leaves_out(*problem).empty();
}

int backward_by_wgmma(const plumbline_problem* problem, const plumbline_gradients* gradients,
                      char* message, size_t message_size) {
  return run(problem, gradients, message, message_size,
             [](const plumbline_problem& p, const plumbline_gradients& g) {
               refuse(wgmma_leaves_out(p));
               run_backward(p, g, kernels_by_wgmma());
             });
}
#endif

#if PLUMBLINE_ON_GPU
/// Sums in the tensor cores, which keep 13 bits after the point; P times 2^8 in e4m3.
constexpr plumbline_contract fp8_tensor_core() {
  plumbline_contract contract = tensor_core(PLUMBLINE_E4M3, 0, 128);
  contract.unit_roundoff = 0x1p-13;
  contract.probability_scale = 256;
  return contract;
}

std::string wgmma_fp8_leaves_out(const plumbline_problem& p) {
  if (p.format != PLUMBLINE_E4M3) return "format must be e4m3 for this kernel";
  if (has_rope(p)) return "rope must be 0 for this kernel";
  return wgmma_leaves_out(as_bf16(p));
}

int supports_wgmma_fp8(const plumbline_problem* problem, int32_t pass) {
  return supports_mma_fp8(problem, pass) && wgmma_fp8_leaves_out(*problem).empty();
}

int forward_fp8_by_wgmma(const plumbline_problem* problem, const plumbline_outputs* outputs,
                         char* message, size_t message_size) {
  return run(problem, outputs, message, message_size,
             [](const plumbline_problem& p, const plumbline_outputs& o) {
               refuse(wgmma_fp8_leaves_out(p));
               run_fp8_forward_by_wgmma(p, o);
             });
}
#endif

/// With a few biases, since the others add nothing to how numbers are stored.
bool has_common_bias(const plumbline_problem& problem) {
  const int32_t bias = problem.bias;
  return (bias == PLUMBLINE_NOPE || bias == PLUMBLINE_ALIBI || bias == PLUMBLINE_CABLE) &&
         !has_rope(problem);
}

/// Of 16-bit problems.
int supports_float_outputs(const plumbline_problem* problem, int32_t pass) {
  if (!problem || (problem->format != PLUMBLINE_BF16 && problem->format != PLUMBLINE_FP16))
    return 0;
  return has_common_bias(*problem) && supports_training<false, true>(problem, pass);
}

int supports_in_bf16(const plumbline_problem* problem, int32_t pass) {
  return problem && problem->format == PLUMBLINE_BF16 && has_common_bias(*problem) &&
         supports_forward<leaves_out_caches, Widths::any>(problem, pass);
}

int forward_in_bf16(const plumbline_problem* problem, const plumbline_outputs* outputs,
                    char* message, size_t message_size) {
  return run(problem, outputs, message, message_size,
             [](const plumbline_problem& p, const plumbline_outputs& o) {
               refuse(leaves_out_caches(p));
               AttentionKernels kernels{&naive_bf16_forward, nullptr, nullptr, false, Widths::any};
               kernels.has_lse = false;
               run_forward(p, o, kernels);
             });
}

/// A kernel that has the forward pass alone.
constexpr plumbline_kernel forward_kernel(
    const char* name, decltype(plumbline_kernel::forward) run, const plumbline_contract& contract,
    decltype(plumbline_kernel::supports) supports = supports_forward<>) {
  return {name,    {contract, contract, contract, contract},
          1,       supports,
          run,     nullptr,
          nullptr, PLUMBLINE_HOST_MEMORY,
          1};
}

constexpr plumbline_kernel kKernels[] = {
    forward_kernel("naive", forward<&naive_forward, leaves_out_caches, Widths::any>, kScalar,
                   supports_forward<leaves_out_caches, Widths::any>),
    {"naive_bf16",
     {{}, kInBf16, {}, {}},
     1,
     supports_in_bf16,
     forward_in_bf16,
     nullptr,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    forward_kernel("tiled", forward<&tiled_forward>, kScalar),
    {"fused",
     {kScalar, kScalar, kScalar, kScalar},
     1,
     supports_training<false, true>,
     forward<&fused_forward>,
     backward<false>,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"fused_atomic",
     {kAtomic, kAtomic, kAtomic, kAtomic},
     0,
     supports_training<false, false>,
     forward<&fused_forward>,
     backward<false, false>,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"fused_float",
     {{}, kFloatOutputs, kFloatOutputs, {}},
     1,
     supports_float_outputs,
     forward<&fused_forward, leaves_out_caches, Widths::compiled, true>,
     backward<false, true, true>,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"mma",
     {{},
      tensor_core(PLUMBLINE_BF16, 0),
      tensor_core(PLUMBLINE_FP16, 0),
      tensor_core(PLUMBLINE_TF32, 0x1p-10)},
     1,
     supports_mma<false>,
     forward_on_tensor_cores<&mma_forward, tensor_cores_leave_out>,
     backward<true>,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"mma_atomic",
     {{},
      tensor_core(PLUMBLINE_BF16, 0),
      tensor_core(PLUMBLINE_FP16, 0),
      tensor_core(PLUMBLINE_TF32, 0x1p-10)},
     0,
     supports_mma<false, false>,
     forward_on_tensor_cores<&mma_forward, tensor_cores_leave_out>,
     backward<true, false>,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"mma_rope",
     {{},
      tensor_core(PLUMBLINE_BF16, 0x1p-8),
      tensor_core(PLUMBLINE_FP16, 0x1p-11),
      tensor_core(PLUMBLINE_TF32, 0x1p-10)},
     1,
     supports_mma<true>,
     forward_on_tensor_cores<&mma_forward, tensor_cores_leave_out>,
     backward<true>,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"mma_fp8",
     {{}, {}, {}, {}, tensor_core(PLUMBLINE_BF16, 0x1p-8), tensor_core(PLUMBLINE_BF16, 0x1p-8)},
     1,
     supports_mma_fp8,
     forward_fp8_by_mma,
     nullptr,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
#if PLUMBLINE_ON_GPU
    {"wgmma",
     {{}, tensor_core(PLUMBLINE_BF16, 0, 128), tensor_core(PLUMBLINE_FP16, 0, 128), {}},
     1,
     supports_wgmma<false>,
     forward_on_tensor_cores<&wgmma_forward, wgmma_leaves_out>,
     backward_by_wgmma,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"wgmma_rope",
     {{}, tensor_core(PLUMBLINE_BF16, 0x1p-8, 128), tensor_core(PLUMBLINE_FP16, 0x1p-11, 128), {}},
     1,
     supports_wgmma<true>,
     forward_on_tensor_cores<&wgmma_forward, wgmma_leaves_out>,
     backward_by_wgmma,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"wgmma_fp8",
     {{}, {}, {}, {}, fp8_tensor_core(), {}},
     1,
     supports_wgmma_fp8,
     forward_fp8_by_wgmma,
     nullptr,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
#endif
    forward_kernel("fused_skipping", forward<&fused_skipping_forward, skipping_leaves_out>,
                   kSkipping, supports_forward<skipping_leaves_out>),
    {"mma_skipping",
     {{}, skipping(tensor_core(PLUMBLINE_BF16, 0)), skipping(tensor_core(PLUMBLINE_FP16, 0)), {}},
     1,
     supports_mma_skipping,
     forward_on_tensor_cores<&mma_skipping_forward, tensor_cores_leave_out>,
     nullptr,
     nullptr,
     PLUMBLINE_HOST_MEMORY,
     1},
    {"unfused",
     {kScalar, kScalar, kScalar, kScalar},
     1,
     supports_unfused,
     forward<nullptr>,
     backward<false>,
     decode,
     PLUMBLINE_HOST_MEMORY,
     0},  // DAPE's network reads hidden keys
    {"split_kv",
     {kSplit, kSplit, kSplit, kSplit},
     1,
     supports_decode,
     nullptr,
     nullptr,
     decode,
     PLUMBLINE_HOST_MEMORY,
     1},
};

#if PLUMBLINE_ON_GPU
__global__ void probe() {}

/// Name of the first GPU, or null where there is none that this library holds code for.
const char* device_name() {
  static cudaDeviceProp properties;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return nullptr;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) return nullptr;
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, probe) == cudaSuccess ? properties.name : nullptr;
}
#else
const char* device_name() { return "CPU emulation"; }
#endif

}  // namespace

}  // namespace plumbline::gpu

/// Of the built-in libraries only, for benchmarks: LaunchClock::take.
extern "C" double plumbline_take_launch_seconds(void) {
  return plumbline::gpu::LaunchClock::take();
}

extern "C" const plumbline_library* plumbline_kernel_library(void) {
  using namespace plumbline::gpu;
  static const char* const device = device_name();
  static const plumbline_library library{PLUMBLINE_ABI_VERSION, "plumbline", device,
                                         static_cast<int32_t>(std::size(kKernels)), kKernels};
  return device ? &library : nullptr;
}
