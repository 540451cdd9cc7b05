// SPDX-License-Identifier: Apache-2.0
// Matrix products on a GPU. cuBLASLt's matrices are column-major, so D = A B in rows is to it
// D^T = B^T A^T: its first operand is our B, its second our A, and a vector along its rows, as bias
// and bias gradient of its epilogues are, runs along our columns.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/device_buffer.cuh"
#include "ops/matrix_product.cuh"

namespace plumbline::gpu {

namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

void check(cublasStatus_t status, std::source_location where = std::source_location::current()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw CudaError(std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                  ": cuBLASLt: " + cublasLtGetStatusString(status));
}

cudaDataType_t data_type(Format format) {
  switch (format) {
    case Format::bf16:
      return CUDA_R_16BF;
    case Format::fp16:
      return CUDA_R_16F;
    default:
      return CUDA_R_32F;
  }
}

cublasLtEpilogue_t lt_epilogue(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::none:
      return CUBLASLT_EPILOGUE_DEFAULT;
    case Epilogue::bias:
      return CUBLASLT_EPILOGUE_BIAS;
    case Epilogue::gelu_bias:
      return CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
    case Epilogue::gelu_gradient:
      return CUBLASLT_EPILOGUE_DGELU;
    case Epilogue::gelu_bias_gradient:
      return CUBLASLT_EPILOGUE_DGELU_BGRAD;
    case Epilogue::sum_of_a:
      return CUBLASLT_EPILOGUE_BGRADB;  // our A is its B
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

/// Owns a descriptor.
template <class Handle, cublasStatus_t (*destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (handle_) destroy(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle* out() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class T>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  check(cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof value));
}
template <class T>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const T& value) {
  check(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value));
}

/// A row-major matrix of `columns` columns in memory, transposed or not by its reader, as cuBLASLt
/// sees it.
void make_layout(Layout& layout, cudaDataType_t type, int stored_rows, int stored_columns) {
  check(cublasLtMatrixLayoutCreate(layout.out(), type, static_cast<std::uint64_t>(stored_columns),
                                   static_cast<std::uint64_t>(stored_rows), stored_columns));
}

/// The largest power of two, up to 256, that divides an address: the search assumes 256 unless
/// told.
std::uint32_t alignment(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address) | 256u;
  return static_cast<std::uint32_t>(bits & -bits);
}

/// Everything that the choice of an algorithm depends on.
using Key = std::array<std::int64_t, 15>;

Key key_of(const Product& p) {
  return {p.m,
          p.n,
          p.k,
          static_cast<int>(p.format),
          p.a_transposed,
          p.b_transposed,
          p.d_is_fp32,
          p.accumulate,
          static_cast<int>(p.epilogue),
          alignment(p.a),
          alignment(p.b),
          alignment(p.d),
          alignment(p.bias),
          alignment(p.aux),
          alignment(p.bias_grad)};
}

/// Whether cuBLASLt's rules allow the epilogue at all: the leading dimension of the auxiliary
/// matrix is a multiple of 8 elements, and its address of 16 bytes.
bool allowed(const Product& p) {
  if (!p.aux) return true;
  return p.n % 8 == 0 && alignment(p.aux) >= 16;
}

}  // namespace

struct MatrixProducts::State {
  explicit State(const Stream& its_stream)
      : stream(its_stream), workspace(its_stream, kWorkspaceBytes) {
    check(cublasLtCreate(handle.out()));
  }

  const Stream& stream;
  Owned<cublasLtHandle_t, cublasLtDestroy> handle;
  DeviceBuffer<unsigned char> workspace;
  std::map<Key, std::optional<cublasLtMatmulAlgo_t>> algorithms;  // none: no algorithm exists
};

MatrixProducts::MatrixProducts(const Stream& stream) : state_(std::make_unique<State>(stream)) {}
MatrixProducts::~MatrixProducts() = default;

bool MatrixProducts::multiply(const Product& p) {
  if (!allowed(p)) return false;
  const cudaDataType_t type = data_type(p.format);
  const cudaDataType_t d_type = p.d_is_fp32 ? CUDA_R_32F : type;
  const cublasComputeType_t compute =
      p.format == Format::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  Description description;
  check(cublasLtMatmulDescCreate(description.out(), compute, CUDA_R_32F));
  set(description, CUBLASLT_MATMUL_DESC_TRANSA, p.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(description, CUBLASLT_MATMUL_DESC_TRANSB, p.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(description, CUBLASLT_MATMUL_DESC_EPILOGUE, lt_epilogue(p.epilogue));
  if (p.bias || p.bias_grad) {
    const void* vector = p.bias ? p.bias : p.bias_grad;
    set(description, CUBLASLT_MATMUL_DESC_BIAS_POINTER, vector);
  }
  if (p.aux) {
    set(description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.aux);
    set(description, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, static_cast<std::int64_t>(p.n));
  }
  Layout a, b, d;
  make_layout(a, type, p.a_transposed ? p.k : p.m, p.a_transposed ? p.m : p.k);
  make_layout(b, type, p.b_transposed ? p.n : p.k, p.b_transposed ? p.k : p.n);
  make_layout(d, d_type, p.m, p.n);

  auto [entry, unknown] = state_->algorithms.try_emplace(key_of(p));
  if (unknown) {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(preference.out()));
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspaceBytes);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment(p.b));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment(p.a));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment(p.d));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment(p.d));
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(state_->handle.get(), description.get(), b.get(), a.get(),
                                       d.get(), d.get(), preference.get(), 1, &best, &found);
    if (status == CUBLAS_STATUS_SUCCESS && found > 0)
      entry->second = best.algo;
    else if (p.epilogue == Epilogue::none)
      check(status == CUBLAS_STATUS_SUCCESS ? CUBLAS_STATUS_NOT_SUPPORTED : status);
  }
  if (!entry->second) return false;
  const float one = 1.0f, beta = p.accumulate ? 1.0f : 0.0f;
  check(cublasLtMatmul(state_->handle.get(), description.get(), &one, p.b, b.get(), p.a, a.get(),
                       &beta, p.d, d.get(), p.d, d.get(), &*entry->second, state_->workspace.data(),
                       kWorkspaceBytes, state_->stream.get()));
  state_->stream.remember(std::source_location::current());
  return true;
}

}  // namespace plumbline::gpu
