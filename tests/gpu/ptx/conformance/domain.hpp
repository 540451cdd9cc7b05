// SPDX-License-Identifier: Apache-2.0
// What is drawn for an operand: values where instructions go wrong, and random ones.
#ifndef PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_DOMAIN_HPP
#define PLUMBLINE_TESTS_GPU_PTX_CONFORMANCE_DOMAIN_HPP

#include <functional>
#include <random>
#include <string>
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
/// Floats uniform in [least, most], and both ends.
Domain floats(const Format& format, double least, double most);

/// Integers of at most this magnitude times 2^scale; one of `special`, if that is not 0, is an
/// infinity or NaN.
using Draw = std::function<Bits(Random&)>;
Draw summands(const Format& format, int magnitude, int scale = 0, int special = 0);

/// Elements of A, B and C at the edges of their formats. Every order of the additions gives the
/// same A B + C: where all is finite, every partial sum is exact; else it is as IEEE-754 has it.
///
/// The PTX ISA says of mma, wmma and wgmma that "the accumulation order, rounding, and handling of
/// subnormal inputs are unspecified", but for f64, which is as fma; of infinities and NaN it says
/// nothing there. So a tensor core may flush. V100, T4 and A100 do not, neither what they read nor
/// what they write (Fasi et al., see gpu/ptx/arithmetic/product.hpp; they had no 8-bit types), nor
/// does gpu/ptx: that is what is asked for.
struct EdgeSums {
  std::string what;
  Draw a, b, c;
};
/// `k`: how many products an element of D sums.
std::vector<EdgeSums> edge_sums(const Format& a, const Format& b, const Format& c, int k);

}  // namespace plumbline::ptx::conformance

#endif
