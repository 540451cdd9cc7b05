// SPDX-License-Identifier: Apache-2.0
#include "attention/decode.cuh"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "attention/attention.cuh"
#include "attention/check_problem.cuh"
#include "attention/device_problem.cuh"
#include "attention/host_outputs.cuh"
#include "attention/score_methods.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kMostQueries = 64;
constexpr int kMostPageSize = 1 << 30;
constexpr std::int64_t kWantedBlocks = 512;  // four for each multiprocessor of a large GPU
constexpr std::int64_t kRowsPerBlock = 8;

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

void check_decode(const plumbline_problem& p) {
  const std::string reason = unsupported_decode_reason(p);
  if (!reason.empty()) throw InvalidProblem(reason);
  if (p.page_size == 0) return;
  require(p.pages, "pages");
  const auto of_sequence = static_cast<std::size_t>(divided_up(p.keys, p.page_size));
  for (std::size_t n = 0; n < p.batch * of_sequence; ++n)
    if (p.pages[n] < 0 &&
        (!p.lengths || needs_scores(p) ||
         static_cast<std::int64_t>(n % of_sequence) * p.page_size < p.lengths[n / of_sequence]))
      throw InvalidProblem("pages[" + std::to_string(n) + "] = " + std::to_string(p.pages[n]) +
                           " is negative");
}

}  // namespace

std::string unsupported_decode_reason(const plumbline_problem& p) {
  const std::string reason = unsupported_reason(p);
  if (!reason.empty()) return reason;
  if (p.query_offset < 0 || p.query_offset > p.keys - p.queries)
    return "query_offset + queries must be within keys when decoding";
  if (p.dropout != 0) return "dropout must be 0 when decoding";
  if (p.cu_seqlens_q) return "cu_seqlens_q must be NULL when decoding";
  if (p.queries > kMostQueries) return "decoding takes at most 64 queries";
  if (p.page_size < 0 || p.page_size > kMostPageSize) return "page_size must be 0 .. 2^30";
  if (std::int64_t{p.batch} * p.heads * p.queries > std::numeric_limits<int>::max())
    return "batch * heads * queries must be below 2^31";
  return "";
}

int split_count(const plumbline_problem& p) {
  // A window leaves few keys of a long cache.
  std::int64_t keys = p.keys;
  const int right = p.causal == 1 ? 0 : p.window_right;
  if (p.window_left >= 0 && right >= 0)
    keys = std::min(keys, std::int64_t{p.queries} + p.window_left + right);
  const std::int64_t rows = std::int64_t{p.heads} / p.kv_heads * p.queries;
  const std::int64_t blocks = divided_up(rows, kRowsPerBlock) * p.kv_heads * p.batch;
  const std::int64_t wanted =
      std::min(divided_up(kWantedBlocks, blocks), divided_up(keys, kLeastSplitKeys));
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, kMostSplits));
}

void run_decode(const plumbline_problem& p, const plumbline_outputs& outputs) {
  check_decode(p);
  const Stream stream;
  const DeviceProblem problem(stream, p);
  HostOutputs host(stream, p, outputs);
  const Attention attention(stream, problem.problem(), {}, {.decode = true});
  attention.decode(problem.problem(), host.on_device());
  host.deliver();
}

}  // namespace plumbline::gpu
