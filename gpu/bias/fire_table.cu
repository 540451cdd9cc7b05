// SPDX-License-Identifier: Apache-2.0
#include "bias/fire_table.cuh"

#include "bias/fire.cuh"
#include "core/shared_memory.cuh"

namespace plumbline::gpu {

namespace {

constexpr int kTableThreads = 128;

/// -b / w, of w = 0 before all others.
__device__ float kink_of(float weight, float bias) {
  if (weight == 0.0f) return -INFINITY;
  const double kink = -static_cast<double>(bias) / static_cast<double>(weight);
  const auto rounded = static_cast<float>(kink);
  return kink > 0.0 ? fmaxf(rounded, 0x1p-149f) : rounded;  // 0 is in front of it
}

/// Whether every number is finite, and no sum of slopes or of intercepts beyond kMostOfLine.
__device__ bool has_lines(const Fire::Params& p, const float* output_weight, float output_bias) {
  double slope = 0.0, intercept = fabs(static_cast<double>(output_bias));
  for (int w = 0; w < p.hidden; ++w) {
    slope += fabs(static_cast<double>(output_weight[w]) * p.hidden_weight[w]);
    intercept += fabs(static_cast<double>(output_weight[w]) * p.hidden_bias[w]);
  }
  return slope <= kMostOfLine && intercept <= kMostOfLine;
}

/// A block makes a head's table; its threads take a unit, then a place, each.
__global__ void fire_table_kernel(Fire::Params p, FireTable table) {
  SharedMemory shared;
  float* const kinks = shared.take<float>(p.hidden);
  const int head = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
  const float* output_weight = p.output_weight + static_cast<std::size_t>(head) * p.hidden;
  const float output_bias = p.output_bias[head];
  const bool lines = has_lines(p, output_weight, output_bias);
  for (int w = thread; w < p.hidden; w += kTableThreads)
    kinks[w] = kink_of(p.hidden_weight[w], p.hidden_bias[w]);
  __syncthreads();

  const int stride = FireTable::stride(p.hidden);
  float* const sorted = table.kinks + static_cast<std::size_t>(head) * stride;
  FireUnit* const units = table.units + static_cast<std::size_t>(head) * p.hidden;
  for (int w = thread; w < stride; w += kTableThreads) {
    if (w >= p.hidden) {
      sorted[w] = NAN;
      continue;
    }
    int place = lines ? 0 : w;
    for (int other = 0; lines && other < p.hidden; ++other)
      place += kinks[other] < kinks[w] || (kinks[other] == kinks[w] && other < w) ? 1 : 0;
    sorted[place] = lines ? kinks[w] : NAN;
    units[place] = {p.hidden_weight[w], p.hidden_bias[w], output_weight[w], 0.0f};
  }
  __syncthreads();

  FirePlace* const places = table.places + static_cast<std::size_t>(head) * (p.hidden + 1);
  for (int place = thread; place <= p.hidden; place += kTableThreads) {
    FireLine before{0.0, output_bias}, after{0.0, 0.0};
    for (int n = 0; lines && n < p.hidden; ++n) {
      const FireUnit unit = units[n];
      const double output = unit.output;
      if (unit.weight == 0.0f && n < place) before.intercept += output * fmaxf(0.0f, unit.bias);
      if (unit.weight > 0.0f && n < place) {
        before.slope += output * unit.weight;
        before.intercept += output * unit.bias;
      }
      if (unit.weight < 0.0f && n >= place) {
        after.slope += output * unit.weight;
        after.intercept += output * unit.bias;
      }
    }
    places[place] = {before, after};
  }
}

}  // namespace

void fill_fire_table(const Stream& stream, const BiasInputs& inputs) {
  launch(stream,
         {dim3{static_cast<unsigned>(inputs.heads)}, dim3{kTableThreads},
          shared_bytes<float>(inputs.hidden)},
         fire_table_kernel, Fire::params(inputs), inputs.fire_table);
}

}  // namespace plumbline::gpu
