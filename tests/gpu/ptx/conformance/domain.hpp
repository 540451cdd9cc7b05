// SPDX-License-Identifier: Apache-2.0
// What is drawn for an operand: values where instructions go wrong, and random ones.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_DOMAIN_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_DOMAIN_HPP

#include <functional>
#include <random>
#include <vector>

#include "tests/gpu/ptx/conformance/bits.hpp"
#include "tests/gpu/ptx/conformance/exact.hpp"

namespace plumbline::ptx::conformance {

using Random = std::mt19937_64;

struct Domain {
  std::vector<Bits> edges;             ///< each is drawn
  std::function<Bits(Random&)> other;  ///< may be empty: the edges are all there is
  Bits draw(Random& random) const;
};

/// Everything that a type holds: zeros, ends of the range, infinities, NaN (quiet, signalling, with
/// payload), subnormals, numbers near ties; halves of packed types.
Domain any(Type type);
/// All numbers of a float format.
Domain any(const Format& format);
/// Integers from `least` to `most`, edges at both ends.
Domain range(std::int64_t least, std::int64_t most, int width = 32);
/// These alone.
Domain of(std::vector<Bits> values);
/// Numbers of a float type that are integers of at most this magnitude.
Domain small_integers(Type type, int magnitude);
/// Floats uniform in [least, most], and both ends.
Domain floats(const Format& format, double least, double most);

}  // namespace plumbline::ptx::conformance

#endif
