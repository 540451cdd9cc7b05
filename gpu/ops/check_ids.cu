// SPDX-License-Identifier: Apache-2.0
#include "ops/check_ids.cuh"

#include <climits>
#include <stdexcept>
#include <string>

#include "core/device_buffer.cuh"
#include "ops/reduce.cuh"
#include "ops/require.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kIdThreads = 256;

struct Report {
  int first_bad;  ///< its place, or INT_MAX
  int id;
  int counted;
};

/// Whether ids[n] counts.
__host__ __device__ bool counts(const int* ids, int n, const CountedIds& counted) {
  if (counted.selected && counted.selected[n] == 0) return false;
  return !counted.some_are_ignored || ids[n] != counted.ignored;
}

__host__ __device__ bool has_row(int rows, int id) { return id >= 0 && id < rows; }

/// How many counted. Throws where one was bad.
int counted_in(const Report& report, const char* name, int count, int rows,
               const CountedIds& counted) {
  if (report.first_bad < count)
    throw std::invalid_argument(
        std::string(name) + "[" + std::to_string(report.first_bad) + "] is " +
        std::to_string(report.id) + ", must be 0 to " + std::to_string(rows - 1) +
        (counted.some_are_ignored ? ", or " + std::to_string(counted.ignored) + " for none" : ""));
  return report.counted;
}

void require_some(int count, int rows) {
  require(count >= 1, "the number of tokens", count, "at least 1");
  require(rows >= 1, "the table's rows", rows, "at least 1");
}

/// One block looks through all of them: integers, so that any order gives the same.
__global__ void check_ids_kernel(const int* ids, int count, int rows, CountedIds counted,
                                 Report* report) {
  SharedMemory shared;
  int* per_warp = shared.take<int>(kIdThreads / kWarpSize);
  int first_bad = INT_MAX, number = 0;
  for (int n = static_cast<int>(threadIdx.x); n < count; n += kIdThreads) {
    if (!counts(ids, n, counted)) continue;
    ++number;
    if (!has_row(rows, ids[n]) && n < first_bad) first_bad = n;
  }
  first_bad = block_reduce(first_bad, per_warp, Smaller());
  number = block_reduce(number, per_warp, Plus());
  if (threadIdx.x == 0) *report = {first_bad, first_bad < count ? ids[first_bad] : 0, number};
}

}  // namespace

int check_ids(const Stream& stream, const char* name, const int* ids, int count, int rows,
              const CountedIds& counted) {
  require_some(count, rows);
  DeviceBuffer<Report> device_report(stream, 1);
  launch(stream, {dim3{1}, dim3{kIdThreads}, shared_bytes<int>(kIdThreads / kWarpSize)},
         check_ids_kernel, ids, count, rows, counted, device_report.data());
  Report report{};
  device_report.copy_to_host(stream, &report);
  stream.wait();
  return counted_in(report, name, count, rows, counted);
}

int check_ids_on_host(const char* name, const int* ids, int count, int rows,
                      const CountedIds& counted) {
  require_some(count, rows);
  Report report{INT_MAX, 0, 0};
  for (int n = 0; n < count && report.first_bad == INT_MAX; ++n) {
    if (!counts(ids, n, counted)) continue;
    ++report.counted;
    if (!has_row(rows, ids[n])) report = {n, ids[n], 0};
  }
  return counted_in(report, name, count, rows, counted);
}

}  // namespace plumbline::gpu
