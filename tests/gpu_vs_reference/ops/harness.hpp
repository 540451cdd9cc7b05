// SPDX-License-Identifier: Apache-2.0
// What the tests of operations share: device memory, seeds, and the comparison with the oracle.
#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "core/bfloat16.cuh"
#include "core/device_buffer.cuh"
#include "core/float16.cuh"
#include "reference/core/linear_algebra.hpp"
#include "reference/scalars/running_error.hpp"
#include "verdict/bounds/ops/computed.hpp"

namespace plumbline::op_tests {

template <class Element>
op_bounds::Storage storage();
template <>
inline op_bounds::Storage storage<float>() {
  return op_bounds::stored_fp32;
}
template <>
inline op_bounds::Storage storage<gpu::bfloat16>() {
  return op_bounds::stored_bf16;
}
template <>
inline op_bounds::Storage storage<gpu::float16>() {
  return op_bounds::stored_fp16;
}

/// A number in the format, as the host computes it: the kernels' own conversions are not for hosts.
template <class Element>
Element narrowed(double x) {
#if PLUMBLINE_ON_GPU
  if constexpr (std::is_same_v<Element, gpu::bfloat16>)
    return __float2bfloat16_rn(static_cast<float>(x));
  else if constexpr (std::is_same_v<Element, gpu::float16>)
    return __float2half_rn(static_cast<float>(x));
  else
    return static_cast<float>(x);
#else
  return gpu::from_float<Element>(static_cast<float>(x));
#endif
}

template <class Element>
double widened(Element x) {
#if PLUMBLINE_ON_GPU
  if constexpr (std::is_same_v<Element, gpu::bfloat16>)
    return __bfloat162float(x);
  else if constexpr (std::is_same_v<Element, gpu::float16>)
    return __half2float(x);
  else
    return x;
#else
  if constexpr (std::is_same_v<Element, double>)
    return x;
  else
    return gpu::to_float(x);
#endif
}

/// The numbers rounded to the format, so that kernel and oracle get the same.
template <class Element>
std::vector<double> representable(std::vector<double> numbers) {
  for (double& x : numbers) x = widened(narrowed<Element>(x));
  return numbers;
}

/// An array in device memory.
template <class T>
class Device {
 public:
  /// Poisoned: every byte 0xff.
  explicit Device(std::size_t count) : buffer_(stream(), count) {}
  explicit Device(const std::vector<T>& values) : Device(values.size()) {
    buffer_.copy_from_host(stream(), values.data(), 0, values.size());
    stream().wait();
  }
  T* data() const { return buffer_.data(); }
  std::vector<T> values() const {
    std::vector<T> host(buffer_.size());
    buffer_.copy_to_host(stream(), host.data());
    stream().wait();
    return host;
  }
  std::vector<double> numbers() const {
    std::vector<double> wide;
    for (const T& x : values()) wide.push_back(widened(x));
    return wide;
  }

 private:
  static const gpu::Stream& stream() {
    static const gpu::Stream instance;
    return instance;
  }

  gpu::DeviceBuffer<T> buffer_;
};

/// Numbers that the format has, in device memory.
template <class Element>
Device<Element> on_device(const std::vector<double>& numbers) {
  std::vector<Element> elements;
  for (const double x : numbers) elements.push_back(narrowed<Element>(x));
  return Device<Element>(elements);
}

/// Calls `body(seed)` for the seeds 1 .. count, or for PLUMBLINE_OP_SEED alone where that is set. A
/// failure's text ends with the line that repeats it.
template <class Body>
void for_seeds(int count, const Body& body) {
  const char* only = std::getenv("PLUMBLINE_OP_SEED");
  const auto& framework = boost::unit_test::framework::master_test_suite();
  for (int n = 1; n <= (only ? 1 : count); ++n) {
    const std::uint64_t seed = only ? std::strtoull(only, nullptr, 10) : n;
    BOOST_TEST_CONTEXT("repro: PLUMBLINE_OP_SEED="
                       << seed << ' ' << framework.argv[0] << " --run_test="
                       << boost::unit_test::framework::current_test_case().full_name()) {
      body(seed);
    }
  }
}

/// Holds results against the oracle and remembers the worst error, in units of its limit.
class Comparison {
 public:
  explicit Comparison(std::string name) : name_(std::move(name)) {}

  /// Every element: |got - oracle| + the oracle's own error <= limit, that error being at most
  /// 2^-10 of the limit. `oracle` is anything of RunningErrors with data() and size().
  template <class Oracle>
  void check(const std::vector<double>& got, const Oracle& oracle,
             const std::vector<double>& limit) {
    BOOST_TEST_REQUIRE(got.size() == static_cast<std::size_t>(oracle.size()));
    BOOST_TEST_REQUIRE(limit.size() == got.size());
    for (std::size_t n = 0; n < got.size(); ++n) element(n, got[n], oracle.data()[n], limit[n]);
  }

  void element(std::size_t n, double got, const reference::RunningError& oracle, double limit) {
    limit += 0x1p-900;  // the oracle allows 2^-1022 for underflow, even where nothing underflows
    ++elements_;
    if (std::isinf(limit)) {  // fp32 cannot hold the case
      ++undecided_;
      return;
    }
    const double error = std::fabs(got - oracle.value()) + oracle.error();
    if (!(error <= limit) && !failed_) {
      BOOST_ERROR(name_ << "[" << n << "] is " << std::hexfloat << got << ", exact "
                        << oracle.value() << std::defaultfloat << ", error " << error << ", limit "
                        << limit);
      failed_ = true;
    }
    worst_ = std::max(worst_, error / limit);
    if (!(oracle.error() <= 0x1p-10 * limit) && !imprecise_) {
      BOOST_ERROR(name_ << "[" << n << "]: the oracle is known to " << oracle.error()
                        << " only, the limit is " << limit);
      imprecise_ = true;
    }
  }

  double worst() const { return worst_; }

  /// The limits are neither exceeded nor far away, and few elements are undecided.
  void finish(double least = 0.01) const {
    BOOST_TEST_MESSAGE(name_ << ": largest error / limit " << worst_ << " of " << elements_
                             << " elements, " << undecided_ << " undecided");
    BOOST_TEST(worst_ <= 1.0, name_ << ": largest error / limit " << worst_);
    if (!std::getenv("PLUMBLINE_OP_SEED"))
      BOOST_TEST(worst_ >= least, name_ << ": the limits are loose, worst ratio " << worst_);
    BOOST_TEST(100 * undecided_ <= elements_, name_ << ": " << undecided_ << " undecided");
  }

 private:
  std::string name_;
  double worst_ = 0.0;
  std::size_t elements_ = 0, undecided_ = 0;
  bool failed_ = false, imprecise_ = false;
};

/// Row-major numbers as a matrix of the oracle.
inline reference::Matrix<reference::RunningError> matrix(const std::vector<double>& numbers,
                                                         int rows, int columns) {
  reference::Matrix<reference::RunningError> x(rows, columns);
  for (Eigen::Index n = 0; n < x.size(); ++n) x.data()[n] = reference::RunningError(numbers[n]);
  return x;
}

/// Copies between the host and device memory that a callback was given.
template <class T>
void write_to(T* device, const std::vector<T>& values) {
#if PLUMBLINE_ON_GPU
  gpu::check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyDefault));
#else
  std::copy(values.begin(), values.end(), device);
#endif
}
template <class T>
std::vector<T> read_from(const T* device, std::size_t count) {
  std::vector<T> values(count);
#if PLUMBLINE_ON_GPU
  gpu::check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDefault));
#else
  std::copy(device, device + count, values.begin());
#endif
  return values;
}

template <class Numbers>
bool same_bits(const Numbers& a, const Numbers& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

/// `run` gives the same bits (a vector of numbers) every time; emulated, for several orders of the
/// threads and numbers of workers.
template <class Run>
void expect_same_bits(const Run& run) {
  const auto expected = run();
#if PLUMBLINE_ON_GPU
  for (int n = 0; n < 5; ++n) BOOST_TEST(same_bits(run(), expected));
#else
  const std::uint64_t before = emulation::thread_order_seed();
  for (const unsigned workers : {1u, 2u, 5u}) {
    for (const std::uint64_t seed : {2, 3, 77}) {
      emulation::set_workers(workers);
      emulation::set_thread_order_seed(seed);
      BOOST_TEST(same_bits(run(), expected), workers << " workers, order of threads " << seed);
    }
  }
  emulation::set_workers(2);
  emulation::set_thread_order_seed(before);
#endif
}

/// Whether an exception's text contains this.
inline auto says(std::string part) {
  return [part = std::move(part)](const std::exception& error) {
    const bool found = std::string(error.what()).find(part) != std::string::npos;
    BOOST_TEST(found, "\"" << error.what() << "\" does not say \"" << part << "\"");
    return found;
  };
}

}  // namespace plumbline::op_tests
